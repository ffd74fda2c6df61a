//! Keys of model providers and of the services around models.

use crate::secrets::rule::{Judge, Rule, assigned};

// tidy: data
pub(in crate::secrets) static RULES: &[Rule] = &[
    Rule::token(
        "anthropic-key",
        "Anthropic",
        "key of the API or of an administrator",
        &["sk-ant-"],
        r"sk-ant-[a-z]{3,8}\d\d-[\w-]{32,}",
    ),
    Rule::beside(
        "assemblyai-key",
        "AssemblyAI",
        "API key",
        &["assemblyai"],
        assigned!("assemblyai", "[a-f0-9]{32}"),
    ),
    Rule::token("cerebras-key", "Cerebras", "API key", &["csk-"], r"csk-[a-z0-9]{48}").entropy(3.3),
    Rule::beside(
        "cohere-key",
        "Cohere",
        "API key",
        &["cohere", "co_api_key"],
        assigned!("cohere|co_api_key", "[A-Za-z0-9]{40}"),
    ),
    Rule::beside("deepgram-key", "Deepgram", "API key", &["deepgram"], assigned!("deepgram", "[a-f0-9]{40}")),
    Rule::token("deepseek-key", "DeepSeek", "API key", &["sk-"], r"sk-[a-f0-9]{32}"),
    Rule::token("elevenlabs-key", "ElevenLabs", "API key", &["sk_"], r"sk_[a-f0-9]{48}"),
    Rule::named(
        "exa-key",
        "Exa",
        "API key",
        &["exa_api", "exa-api"],
        assigned!("exa[_-]api", "[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}"),
    ),
    Rule::token("firecrawl-key", "Firecrawl", "API key", &["fc-"], r"fc-[a-f0-9]{32}").entropy(3.0),
    Rule::token("fireworks-key", "Fireworks AI", "API key", &["fw_"], r"fw_[A-Za-z0-9]{22,24}").entropy(3.3),
    Rule::token("groq-key", "Groq", "API key", &["gsk_"], r"gsk_[A-Za-z0-9]{52}"),
    Rule::token(
        "huggingface-token",
        "Hugging Face",
        "token of a user or of an organization",
        &["hf_", "api_org_"],
        r"(?:hf|api_org)_[A-Za-z0-9]{34,40}",
    ),
    Rule::token("jina-key", "Jina AI", "API key", &["jina_"], r"jina_[\w-]{60}").entropy(3.5),
    Rule::token(
        "langfuse-key",
        "Langfuse",
        "secret key",
        &["sk-lf-"],
        r"sk-lf-[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}",
    ),
    Rule::token(
        "langsmith-key",
        "LangSmith",
        "API key",
        &["lsv2_"],
        r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}",
    ),
    Rule::beside("mistral-key", "Mistral", "API key", &["mistral"], assigned!("mistral", "[A-Za-z0-9]{32}")),
    Rule::beside(
        "modal-token",
        "Modal",
        "token id or secret",
        &["modal_token", "modal-token"],
        assigned!("modal[_-]token", "a[ks]-[A-Za-z0-9]{22}"),
    ),
    Rule::token("nvidia-key", "NVIDIA", "API key", &["nvapi-"], r"nvapi-[\w-]{64}").entropy(3.5),
    Rule::token(
        "openai-key",
        "OpenAI",
        "key of a user, a project or a service account",
        &["sk-"],
        r"sk-(?:(?:proj|svcacct|service|admin|None)-[\w-]{40,}|[\w-]{20,}T3BlbkFJ[\w-]{20,}|[A-Za-z0-9]{48})",
    ),
    Rule::token("openrouter-key", "OpenRouter", "API key", &["sk-or-"], r"sk-or-v1-[a-f0-9]{64}"),
    Rule::token("perplexity-key", "Perplexity", "API key", &["pplx-"], r"pplx-[A-Za-z0-9]{48}"),
    Rule::token(
        "pinecone-key",
        "Pinecone",
        "API key",
        &["pcsk_"],
        r"pcsk_[A-Za-z0-9]{5,7}_[A-Za-z0-9]{50,70}",
    ),
    Rule::token("replicate-token", "Replicate", "API token", &["r8_"], r"r8_[A-Za-z0-9]{37}"),
    Rule::token("tavily-key", "Tavily", "API key", &["tvly-"], r"tvly-(?:dev-|prod-)?[A-Za-z0-9]{32}")
        .entropy(3.0),
    Rule::named(
        "together-key",
        "Together AI",
        "API key",
        &["tgp_v1_", "together_api", "togetherai"],
        concat!("(tgp_v1_[\\w-]{40,46})|", assigned!("together_?a(?:pi|i)", "[a-f0-9]{64}")),
    )
    .entropy(3.0),
    Rule::beside(
        "voyage-key",
        "Voyage AI",
        "API key",
        &["voyage"],
        assigned!("voyage", r"(?:pa|al)-[\w-]{43}"),
    ),
    Rule::beside("wandb-key", "Weights & Biases", "API key", &["wandb"], assigned!("wandb", "[a-f0-9]{40}")),
    Rule::token("xai-key", "xAI", "API key", &["xai-"], r"xai-[A-Za-z0-9]{70,90}"),
    Rule::beside(
        "zhipu-key",
        "Zhipu",
        "API key",
        &["zhipu", "bigmodel", "glm_api"],
        assigned!("zhipu|bigmodel|glm_api", r"[a-f0-9]{32}\.[A-Za-z0-9]{16}"),
    )
    .judge(Judge::Shape),
];
