//! Rules for markup: role tags, chat templates, role lines, comments to agents, links.

use super::Rule;

/// The table of markup rules.
pub(super) const RULES: &[Rule] = &[
    Rule {
        marker: "role tag",
        any: &["<"],
        pattern: r"</?[ ]*(?:system|assistant|human|developer|system[-_ ](?:reminder|prompt|message|instructions?|override|note)|instructions?|tool_(?:result|use|call|response)s?|function_(?:call|result|response)s?|function_calls|antml:\w+|invoke|retro(?:-\w+)?|persisted-output|user-prompt-submit-hook|command-(?:name|message)|environment_context|user_instructions|skills_instructions|turn_aborted|start_of_turn|end_of_turn|begin_of_text|important)(?:[ ][^<>\n]{0,200})?/?>|</[ ]*(?:admin|operator|prompt|thinking|override)[ ]*>",
    },
    Rule {
        marker: "chat template",
        any: &["<|", "[inst", "[/inst", "<<sys", "<</sys", "###", "<start_of", "<end_of", "|>", "##"],
        pattern: r"<\|[^|<>\n]{1,40}\|>|\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>|^[ ]*#{2,}[ ]*(?:instructions?|response|human|assistant|system|input|user|new instructions?)(?: prompt| message)?[ ]*:",
    },
    Rule {
        marker: "role heading",
        any: &["system", "assistant", "instruction", "developer", "admin", "operator", "prompt"],
        pattern: r"^[ ]*(?:#{1,6}|\*\*|={2,}|-{2,}|\[)[ ]*(?:new |updated |hidden )?(?:system|assistant|developer|admin|operator|instructions?|system prompt)(?: (?:prompt|message|instructions?|note|role))?[ ]*(?:\*\*|={2,}|-{2,}|\]|#*)[ ]*:?[ ]*(?:\n[ \n]*ORDER|[ ]*ORDER)",
    },
    Rule {
        marker: "closing tag",
        any: &["</"],
        pattern: r"</(?:memory|memories|context|retrieved|documents?|data|user|untrusted\w*|quote|search_results?|results?|output|tool|tools|message|conversation|history|rules?|notes?|web\w*|file|content)>[ \n]*(?:</\w+>[ \n]*)*(?:important|attention|note|now|new|ignore|you|the user|please|always|never|from|do |system|assistant|human|forget|disregard|run|execute|instead)\b",
    },
    Rule {
        marker: "role line",
        any: &[":", "["],
        pattern: r#"(?:^|\\n)[ >*_"'\[(-]*(?:system|assistant|human|user|developer|ai|tool|operator|admin|administrator|root|model|copilot|claude|chatgpt|gpt|codex|gemini|cursor|grok|llm|agents?|bot|systeme?|sistema|assistent|asistente|assistente|benutzer|nutzer|utilisateur|usuario|usuário|система|ассистент|пользователь|человек|系统|系統|助手|用户|システム|アシスタント|ユーザー)(?: (?:prompt|message|note|instructions?|override|notice|command))?[ "'*_\])]*:[ "'*_\[(]*ORDER|\[(?:system|assistant|developer|human)\]\([^)\n]*\)[ :]*ORDER|^[ >*]*\[(?:system|assistant|developer|admin)\][ :]*ORDER"#,
    },
    Rule {
        marker: "role line",
        any: &[
            "tool_result",
            "tool result",
            "function_result",
            "tool output",
            "tool_output",
            "tool response",
            "tool_response",
            "function result",
            "function response",
            "function_response",
        ],
        pattern: r"(?:^|\n)[ >*]*(?:tool[_ ](?:result|output|response)|function[_ ](?:result|response))s?[ ]*:[^\n]{0,80}\b(?:next|now|then|please|you must)\b",
    },
    Rule {
        marker: "role object",
        any: &["role"],
        pattern: r#"\brole[\\"']*[ ]*[:=][ ]*[\\"']*(?:system|assistant|developer|user|tool|human|function)\b[\\"']*[ ]*[,;}\n][^\n]{0,40}?\b(?:content|text|message|parts)\b|\b(?:content|text|message)[\\"']+[ ]*:[^\n]{0,120}?\brole[\\"']+[ ]*:[ ]*[\\"']+(?:system|assistant|developer|user|tool)\b"#,
    },
    Rule {
        marker: "comment to agents",
        any: &["<!--", "//", "/*", "#", "--", ";", "\"\"\"", "{{", "%", "rem ", "'''"],
        pattern: r#"(?:<!--|//|/\*+|#+|--|;+|"{3}|'{3}|\{\{!?|%+|\{/\*|rem )[ ]*(?:(?:todo|fixme|note|hack|xxx|hint|important|attention|warning|instruction)s?\b[ ]*(?:to |for |:)?[ ]*)?[\[(@]?[ ]*(?:the |any |all )?(?:AGENT|agentic|bot)[ ]*[\])]?[ ]*(?:[:,!]|-)[ ]*(?:please |you |also )?(?:ORDER|use|treat|make|update|edit|rename|read|take|assume|leave|give|do)\b"#,
    },
    Rule {
        marker: "comment to agents",
        any: &["<!--", "[//]:"],
        pattern: r"(?:<!--|\[//\]:[ ]*#)[^>\n]{0,120}?\b(?:ai|llms?|agents?|assistants?|language models?|chatgpt|claude|copilot|codex)\b[^>\n]{0,30}?(?:[:,]|must|should|please)[^>\n]{0,10}?ORDER",
    },
    Rule {
        marker: "link that leaks or runs something",
        any: &["](", "]:", "href", "src"],
        pattern: r#"(?:\]\(|\]:|href[ ]*=|src[ ]*=)[ "'<]*(?:javascript|vbscript|data:text/html|data:application)\b|(?:!\[[^\]\n]*\]\(|<img\b[^>\n]{0,80}?src[ ]*=)[ "'<]*https?://[^)\n>]{0,200}?[?&/](?:[a-z_]*(?:leak|exfil|secret|token|env|key|data|prompt|conversation|payload|cookie|context|history|steal|collect)[a-z_]*|[a-z])=|(?:!?\[[^\]\n]*\]\(|<img\b[^>\n]{0,80}?src[ ]*=)[ "'<]*https?://[^)\n>]{0,200}?=[^)\n>&]{0,20}?(?:\{[^)\n]*\}|\$\(|\$\{|<[a-z_ ]+>|\[[a-z_ ]+\]|%7b|your_|secret|api_?key|contents?_of)"#,
    },
];
