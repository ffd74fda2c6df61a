//! A small embedding model of random weights, as the bytes of a GGUF file.

/// Values of a vector.
pub const WIDTH: usize = 32;
const INNER: usize = 64;
const TOKENS: usize = 64;

/// The bytes of a GGUF file: facts, then tensors.
#[derive(Default)]
struct Gguf {
    facts: Vec<u8>,
    facts_count: u64,
    tensors: Vec<u8>,
    tensors_count: u64,
    weights: Vec<u8>,
    random: u64,
}

fn text(into: &mut Vec<u8>, text: &str) {
    into.extend((text.len() as u64).to_le_bytes());
    into.extend(text.as_bytes());
}

impl Gguf {
    fn fact(&mut self, key: &str, kind: u32, value: &[u8]) {
        text(&mut self.facts, key);
        self.facts.extend(kind.to_le_bytes());
        self.facts.extend(value);
        self.facts_count += 1;
    }

    fn number(&mut self, key: &str, value: u32) {
        self.fact(key, 4, &value.to_le_bytes());
    }

    fn string(&mut self, key: &str, value: &str) {
        let mut bytes = Vec::new();
        text(&mut bytes, value);
        self.fact(key, 8, &bytes);
    }

    fn array(&mut self, key: &str, kind: u32, count: usize, values: &[u8]) {
        let mut bytes = kind.to_le_bytes().to_vec();
        bytes.extend((count as u64).to_le_bytes());
        bytes.extend(values);
        self.fact(key, 9, &bytes);
    }

    /// A tensor of random numbers, or of ones if it is a norm's weight.
    fn tensor(&mut self, name: &str, sizes: &[usize]) {
        text(&mut self.tensors, name);
        self.tensors.extend((sizes.len() as u32).to_le_bytes());
        self.tensors.extend(sizes.iter().flat_map(|size| (*size as u64).to_le_bytes()));
        self.tensors.extend(0u32.to_le_bytes());
        self.tensors.extend((self.weights.len() as u64).to_le_bytes());
        self.tensors_count += 1;
        let is_norm = name.ends_with("norm.weight");
        for _ in 0..sizes.iter().product() {
            self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let random = (self.random >> 40) as f32 / (1 << 24) as f32 - 0.5;
            self.weights.extend(if is_norm { 1.0 } else { random }.to_le_bytes());
        }
        self.weights.resize(self.weights.len().next_multiple_of(32), 0);
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = b"GGUF".to_vec();
        bytes.extend(3u32.to_le_bytes());
        bytes.extend(self.tensors_count.to_le_bytes());
        bytes.extend(self.facts_count.to_le_bytes());
        bytes.extend(&self.facts);
        bytes.extend(&self.tensors);
        bytes.resize(bytes.len().next_multiple_of(32), 0);
        bytes.extend(&self.weights);
        bytes
    }
}

/// A BERT of one layer that knows a few words and single letters.
pub fn model(seed: u64) -> Vec<u8> {
    let mut gguf = Gguf { random: seed, ..Gguf::default() };
    facts(&mut gguf);
    let words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"].map(str::to_owned).into_iter();
    let letters = ('a'..='z').flat_map(|letter| [format!("\u{2581}{letter}"), letter.to_string()]);
    let vocabulary: Vec<String> = words.chain(letters).chain(["\u{2581}the".to_owned()]).collect();
    let mut tokens = Vec::new();
    vocabulary.iter().for_each(|word| text(&mut tokens, word));
    gguf.array("tokenizer.ggml.tokens", 8, vocabulary.len(), &tokens);
    let kinds = (0..vocabulary.len()).flat_map(|token| if token < 5 { 3u32 } else { 1 }.to_le_bytes());
    gguf.array("tokenizer.ggml.token_type", 5, vocabulary.len(), &kinds.collect::<Vec<_>>());
    gguf.tensor("token_embd.weight", &[WIDTH, vocabulary.len()]);
    gguf.tensor("position_embd.weight", &[WIDTH, TOKENS]);
    gguf.tensor("token_types.weight", &[WIDTH, 2]);
    for part in ["attn_q", "attn_k", "attn_v", "attn_output"] {
        gguf.tensor(&format!("blk.0.{part}.weight"), &[WIDTH, WIDTH]);
        gguf.tensor(&format!("blk.0.{part}.bias"), &[WIDTH]);
    }
    gguf.tensor("blk.0.ffn_up.weight", &[WIDTH, INNER]);
    gguf.tensor("blk.0.ffn_up.bias", &[INNER]);
    gguf.tensor("blk.0.ffn_down.weight", &[INNER, WIDTH]);
    gguf.tensor("blk.0.ffn_down.bias", &[WIDTH]);
    for norm in ["token_embd_norm", "blk.0.attn_output_norm", "blk.0.layer_output_norm"] {
        gguf.tensor(&format!("{norm}.weight"), &[WIDTH]);
        gguf.tensor(&format!("{norm}.bias"), &[WIDTH]);
    }
    gguf.bytes()
}

fn facts(gguf: &mut Gguf) {
    gguf.string("general.architecture", "bert");
    gguf.number("bert.block_count", 1);
    gguf.number("bert.context_length", TOKENS as u32);
    gguf.number("bert.embedding_length", WIDTH as u32);
    gguf.number("bert.feed_forward_length", INNER as u32);
    gguf.number("bert.attention.head_count", 4);
    gguf.fact("bert.attention.layer_norm_epsilon", 6, &1e-12f32.to_le_bytes());
    gguf.fact("bert.attention.causal", 7, &[0]);
    gguf.number("bert.pooling_type", 1);
    gguf.string("tokenizer.ggml.model", "bert");
    gguf.string("tokenizer.ggml.pre", "jina-v2-en");
    gguf.number("tokenizer.ggml.token_type_count", 2);
    for (name, token) in
        [("padding", 0), ("unknown", 1), ("bos", 2), ("cls", 2), ("eos", 3), ("seperator", 3), ("mask", 4)]
    {
        gguf.number(&format!("tokenizer.ggml.{name}_token_id"), token);
    }
}
