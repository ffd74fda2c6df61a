//! Examples for the rules of model providers.

use super::Example;

// tidy: data
pub(crate) static EXAMPLES: &[Example] = &[
    (
        "anthropic-key",
        &[
            "sk-ant-api03-{word:93}AA",
            "export KEY=sk-ant-oat01-{word:80}AA\\n",
            "\u{1b}[32msk-ant-admin01-{alnum:90}",
        ],
        &[
            "sk-ant-api03-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "sk-ant-…",
            "the prefix sk-ant-api03-",
        ],
    ),
    (
        "assemblyai-key",
        &["ASSEMBLYAI_KEY={hex:32}", "\"assemblyai_secret\": \"{hex:32}\""],
        &[
            "ASSEMBLYAI_KEY=${open}ASSEMBLYAI_KEY{close}",
            "ASSEMBLYAI_KEY={hex:10}",
            "assemblyai is a service",
        ],
    ),
    ("cerebras-key", &["csk-{lownum:48}"], &["csk-", "csk-{lownum:16}"]),
    (
        "cohere-key",
        &["COHERE_KEY={alnum:37}{digits:3}", "\"cohere_secret\": \"{alnum:37}{digits:3}\""],
        &["COHERE_KEY=${open}COHERE_KEY{close}", "COHERE_KEY={alnum:12}{digits:3}", "cohere is a service"],
    ),
    (
        "deepgram-key",
        &["DEEPGRAM_KEY={hex:40}", "\"deepgram_secret\": \"{hex:40}\""],
        &["DEEPGRAM_KEY=${open}DEEPGRAM_KEY{close}", "DEEPGRAM_KEY={hex:13}", "deepgram is a service"],
    ),
    ("deepseek-key", &["sk-{hex:32}"], &["task-{hex:32}", "sk-{hex:31}"]),
    ("elevenlabs-key", &["sk_{hex:48}"], &["sk_", "sk_{hex:16}"]),
    (
        "exa-key",
        &["EXA_API_KEY={uuid}", "\"exa_api_secret\": \"{uuid}\""],
        &["EXA_API_KEY=${open}EXA_API_KEY{close}", "EXA_API_KEY={hex:12}", "exa_api is a service"],
    ),
    ("firecrawl-key", &["fc-{hex:32}"], &["fc-", "fc-{hex:10}"]),
    ("fireworks-key", &["fw_{alnum:24}"], &["fw_version", "fw_{alnum:5}"]),
    ("groq-key", &["gsk_{alnum:52}"], &["gsk_test"]),
    ("huggingface-token", &["hf_{alnum:34}", "api_org_{alnum:34}"], &["hf_hub_download", "hf_{alnum:8}"]),
    ("jina-key", &["jina_{alnum:60}"], &["jina_", "jina_{alnum:20}"]),
    ("langfuse-key", &["sk-lf-{uuid}"], &["sk-lf-", "sk-lf-{hex:12}"]),
    ("langsmith-key", &["lsv2_pt_{hex:32}_{hex:10}"], &["lsv2_pt_"]),
    (
        "mistral-key",
        &["MISTRAL_KEY={alnum:29}{digits:3}", "\"mistral_secret\": \"{alnum:29}{digits:3}\""],
        &["MISTRAL_KEY=${open}MISTRAL_KEY{close}", "MISTRAL_KEY={alnum:9}{digits:3}", "mistral is a service"],
    ),
    (
        "modal-token",
        &["MODAL_TOKEN_KEY=ak-{alnum:19}{digits:3}", "\"modal_token_secret\": \"ak-{alnum:19}{digits:3}\""],
        &[
            "MODAL_TOKEN_KEY=${open}MODAL_TOKEN_KEY{close}",
            "MODAL_TOKEN_KEY=ak-{alnum:6}{digits:3}",
            "modal_token is a service",
        ],
    ),
    ("nvidia-key", &["nvapi-{alnum:64}"], &["nvapi-", "nvapi-{alnum:21}"]),
    (
        "openai-key",
        &["sk-proj-{word:120}7", "sk-{alnum:20}T3BlbkFJ{alnum:20}", "sk-svcacct-{word:60}7"],
        &["sk-proj-your-key-here", "sk-test", "risk-{alnum:48}"],
    ),
    ("openrouter-key", &["sk-or-v1-{hex:64}"], &["sk-or-v1-..."]),
    ("perplexity-key", &["pplx-{alnum:48}"], &["pplx-api"]),
    ("pinecone-key", &["pcsk_{alnum:5}_{alnum:50}"], &["pcsk_", "pcsk_{alnum:5}_{alnum:16}"]),
    ("replicate-token", &["r8_{alnum:37}"], &["r8_unorm"]),
    ("tavily-key", &["tvly-{alnum:32}", "tvly-{alnum:32}"], &["tvly-", "tvly-{alnum:10}"]),
    (
        "together-key",
        &["tgp_v1_{word:42}7", "TOGETHER_API_KEY={hex:64}"],
        &["tgp_v1_", "TOGETHER_API_KEY=$KEY"],
    ),
    (
        "voyage-key",
        &["VOYAGE_KEY=pa-{alnum:40}{digits:3}", "\"voyage_secret\": \"al-{alnum:40}{digits:3}\""],
        &["VOYAGE_KEY=${open}VOYAGE_KEY{close}", "VOYAGE_KEY=pa-{alnum:13}{digits:3}", "voyage is a service"],
    ),
    (
        "wandb-key",
        &["WANDB_KEY={hex:40}", "\"wandb_secret\": \"{hex:40}\""],
        &["WANDB_KEY=${open}WANDB_KEY{close}", "WANDB_KEY={hex:13}", "wandb is a service"],
    ),
    ("xai-key", &["xai-{alnum:80}"], &["xai-org"]),
    (
        "zhipu-key",
        &["ZHIPU_KEY={hex:32}.{alnum:13}{digits:3}", "\"zhipu_secret\": \"{hex:32}.{alnum:13}{digits:3}\""],
        &[
            "ZHIPU_KEY=${open}ZHIPU_KEY{close}",
            "ZHIPU_KEY={hex:10}.{alnum:13}{digits:3}",
            "zhipu is a service",
        ],
    ),
];
