//! Keys of model providers.

use crate::secrets::rule::Rule;

// tidy: data
pub(in crate::secrets) static RULES: &[Rule] = &[
    Rule::token("anthropic-key", &["sk-ant-"], r"sk-ant-[a-z]{3,8}\d\d-[\w-]{32,}"),
    Rule::token("deepseek-key", &["sk-"], r"sk-[a-f0-9]{32}"),
    Rule::token("fireworks-key", &["fw_"], r"fw_[A-Za-z0-9]{22,24}").entropy(3.3),
    Rule::token("groq-key", &["gsk_"], r"gsk_[A-Za-z0-9]{52}"),
    Rule::token("huggingface-token", &["hf_", "api_org_"], r"(?:hf|api_org)_[A-Za-z0-9]{34,40}"),
    Rule::token("langsmith-key", &["lsv2_"], r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}"),
    Rule::token(
        "openai-key",
        &["sk-"],
        r"sk-(?:(?:proj|svcacct|admin|None)-[\w-]{40,}|[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}|[A-Za-z0-9]{48})",
    ),
    Rule::token("openrouter-key", &["sk-or-"], r"sk-or-v1-[a-f0-9]{64}"),
    Rule::token("perplexity-key", &["pplx-"], r"pplx-[A-Za-z0-9]{48}"),
    Rule::token("replicate-token", &["r8_"], r"r8_[A-Za-z0-9]{37}"),
    Rule::token("xai-key", &["xai-"], r"xai-[A-Za-z0-9]{70,90}"),
];
