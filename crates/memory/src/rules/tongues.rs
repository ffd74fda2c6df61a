//! The signs of rules in languages other than English, as data.
//!
//! A sentence is tested in every language, and the one with the most signs counts. Words of a
//! script with spaces are compared whole. Others may match anywhere in the sentence.

use retro_text::tongue::{is_english, is_spaced, words};

use super::shape::{RULE, Shape};

/// The rule phrases of a language.
struct Tongue {
    /// Its ISO 639-1 code, by which the table is sorted.
    #[allow(dead_code)]
    name: &'static str,
    /// From now on, always: these claim permanence by themselves.
    lasting: &'static [&'static str],
    /// Forbidden, demanded, usual here.
    norms: &'static [&'static str],
    /// Always, only, must, belongs.
    manners: &'static [&'static str],
    /// Every, all, we.
    subjects: &'static [&'static str],
    /// Why, still, does not work: references to one moment.
    moments: &'static [&'static str],
}

/// The form of a sentence that is not English. `None` if it has no sign of a rule.
pub(super) fn shape(sentence: &str) -> Option<Shape> {
    strongest(sentence).filter(|shape| shape.weight >= RULE)
}

fn strongest(sentence: &str) -> Option<Shape> {
    if sentence.trim_end().ends_with(['?', '？', '؟']) {
        return None;
    }
    let spaced = is_spaced(sentence);
    let text = if spaced { words(sentence) } else { sentence.to_lowercase() };
    if spaced && is_english(&text) {
        return None;
    }
    let shapes = TONGUES
        .iter()
        .filter(|tongue| tongue.is_spaced() == spaced)
        .map(|tongue| tongue.shape(&text, spaced));
    shapes.max_by_key(|shape| shape.weight)
}

/// Like [`shape`], but fewer signs suffice, since other evidence is added.
pub(super) fn weak(sentence: &str) -> Option<Shape> {
    strongest(sentence).filter(|shape| shape.weight > 0)
}

impl Tongue {
    fn is_spaced(&self) -> bool {
        self.norms.first().is_some_and(|word| is_spaced(word))
    }

    fn shape(&self, text: &str, spaced: bool) -> Shape {
        let has = |sign: &&&str| match spaced {
            true => text.contains(&words(sign)),
            false => text.contains(**sign),
        };
        let count = |signs: &[&str]| i32::try_from(signs.iter().filter(has).count()).unwrap_or(i32::MAX);
        let lasting = count(self.lasting);
        let demands = 2 * (lasting + count(self.norms)) + count(self.manners).min(2);
        let weight = demands + count(self.subjects).min(1) - 2 * count(self.moments);
        Shape { weight: if demands > 0 { weight } else { 0 }, lasting: lasting > 0, changes: false }
    }
}

#[rustfmt::skip]
const TONGUES: &[Tongue] = &[
    Tongue {
        name: "ar",
        lasting: &["من الآن"],
        norms: &["ممنوع", "في هذا المشروع", "لا يجوز", "يجب ألا"],
        manners: &["دائما", "دائمًا", "أبدا", "أبدًا", "فقط", "يجب", "لا تستخدم"],
        subjects: &["كل", "جميع"],
        moments: &["لماذا", "هل"],
    },
    Tongue {
        name: "de",
        lasting: &["ab jetzt", "ab sofort", "von nun an", "ab heute", "in zukunft", "künftig", "grundsätzlich", "niemals", "nie wieder"],
        norms: &["verboten", "tabu", "darf nicht", "dürfen nicht", "darf nie", "nicht erlaubt", "bei uns", "merk dir", "denk daran", "ohne rücksprache", "finger weg", "in diesem projekt", "in diesem repo"],
        manners: &["immer", "nie", "nur", "muss", "müssen", "keine", "kein", "soll", "sollen", "gehören", "gehört", "bitte", "sondern", "mehr", "vor jedem", "nach jedem", "nirgends", "ausschließlich", "statt"],
        subjects: &["alle", "jede", "jeder", "jedes", "neue", "wir", "unsere"],
        moments: &["immer noch", "warum", "wieso", "bei mir", "läuft", "funktioniert", "geht nicht", "kannst du", "könntest du", "schlägt fehl", "hat", "war", "wurde"],
    },
    Tongue {
        name: "es",
        lasting: &["a partir de ahora", "de ahora en adelante", "en adelante"],
        norms: &["prohibido", "no quiero que", "nunca uses", "nunca hagas", "en este proyecto", "en este repositorio", "sin preguntar", "recuerda que", "no se debe", "no se puede", "aquí usamos", "no se toca", "no toques"],
        manners: &["siempre", "nunca", "jamás", "solo", "sólo", "únicamente", "debe", "deben", "hay que", "tiene que", "tienen que", "no uses", "no usar", "antes de cada", "después de cada", "van en", "va en"],
        subjects: &["todos", "todas", "cada", "todo", "toda", "ningún", "ninguna", "nuestro", "nuestra", "usamos"],
        moments: &["por qué", "todavía", "aún", "ahora falla", "falla", "puedes", "podrías", "cuando hago"],
    },
    Tongue {
        name: "fr",
        lasting: &["désormais", "dorénavant", "à partir de maintenant", "à l'avenir", "ne jamais"],
        norms: &["interdit", "chez nous", "on ne", "il ne faut pas", "il ne faut jamais", "sans demander", "dans ce projet", "dans ce dépôt", "n'oublie pas que", "retiens"],
        manners: &["toujours", "jamais", "uniquement", "seulement", "doit", "doivent", "il faut", "pas de", "plus de", "avant chaque", "après chaque", "s'écrivent", "se fait", "se font", "pas avec"],
        subjects: &["tous", "toutes", "chaque", "tout", "aucun", "aucune", "nous", "on"],
        moments: &["pourquoi", "encore", "peux-tu", "pouvez-vous", "marche pas", "fonctionne", "quand je", "échoue", "était"],
    },
    Tongue {
        name: "hi",
        lasting: &["अब से", "आगे से"],
        norms: &["मना है", "इस प्रोजेक्ट में"],
        manners: &["हमेशा", "कभी", "केवल", "सिर्फ", "ज़रूरी", "मत"],
        subjects: &["सभी", "हर"],
        moments: &["क्यों", "क्या"],
    },
    Tongue {
        name: "it",
        lasting: &["d'ora in poi", "da ora in poi", "da oggi", "in futuro"],
        norms: &["vietato", "in questo progetto", "in questo repository", "senza chiedere", "ricorda che", "ricordati", "non voglio che", "non si deve", "non si tocca", "da noi"],
        manners: &["sempre", "mai", "solo", "soltanto", "deve", "devono", "bisogna", "va messo", "vanno", "si salvano", "si usa", "si usano", "non usare", "prima di ogni", "dopo ogni"],
        subjects: &["tutti", "tutte", "ogni", "tutto", "nessun", "nessuna", "le", "gli", "usiamo", "nostro"],
        moments: &["perché", "ancora", "puoi", "potresti", "non funziona", "non va", "non si vede", "quando clicco"],
    },
    Tongue {
        name: "ja",
        lasting: &["今後", "これから", "以後", "以降は", "常に", "二度と", "毎回"],
        norms: &["絶対", "必ず", "禁止", "してはいけない", "しないこと", "すること", "このプロジェクトでは", "このリポジトリでは", "勝手に", "覚えて"],
        manners: &["いつも", "のみ", "だけ", "しないで", "使わない", "ください", "べき", "なければならない", "なければなりません", "前に", "ルール", "すべて", "全て", "決して"],
        subjects: &[],
        moments: &["なぜ", "どうして", "まだ", "ですか", "でしょうか", "失敗して", "動かない", "エラー"],
    },
    Tongue {
        name: "ko",
        lasting: &["앞으로", "지금부터", "이제부터", "매번"],
        norms: &["금지", "절대", "반드시", "하면 안 됩니다", "하면 안 돼", "하지 말아야", "이 프로젝트에서는", "이 저장소에서는", "기억해", "묻지 않고"],
        manners: &["항상", "언제나", "만", "오직", "하지 마", "마세요", "해야", "주세요", "모든", "마다", "쓰지"],
        subjects: &[],
        moments: &["왜", "아직", "안 보여", "안 돼요", "오류", "실패", "인가요", "나요", "까요"],
    },
    Tongue {
        name: "nl",
        lasting: &["vanaf nu", "voortaan", "in het vervolg"],
        norms: &["verboden", "mag niet", "mogen niet", "bij ons", "in dit project", "in deze repo", "zonder te vragen", "onthoud"],
        manners: &["altijd", "nooit", "alleen", "moet", "moeten", "geen", "hoort", "horen", "voor elke", "na elke", "niet meer"],
        subjects: &["alle", "elke", "iedere", "nieuwe", "we", "wij", "onze"],
        moments: &["waarom", "nog steeds", "kun je", "kan je", "werkt niet", "bij mij"],
    },
    Tongue {
        name: "pl",
        lasting: &["od teraz", "od dziś", "od dzisiaj", "na przyszłość"],
        norms: &["w przyszłości", "zabronione", "zakazane", "nie wolno", "nietykalne", "w tym projekcie", "w tym repozytorium", "bez pytania", "pamiętaj", "u nas"],
        manners: &["zawsze", "nigdy", "tylko", "wyłącznie", "musi", "muszą", "należy", "nie edytuj", "nie używaj", "nie ruszaj", "nie dotykaj", "przed każdym", "po każdym"],
        subjects: &["wszystkie", "każdy", "każda", "każde", "żaden", "żadnych", "nowe", "używamy"],
        moments: &["dlaczego", "czemu", "nadal", "wciąż", "czy możesz", "nie działa"],
    },
    Tongue {
        name: "pt",
        lasting: &["a partir de agora", "daqui para frente", "daqui em diante", "nunca mais"],
        norms: &["proibido", "neste projeto", "neste repositório", "sem perguntar", "lembre-se", "não quero que", "não se deve", "não pode", "não podem"],
        manners: &["sempre", "nunca", "jamais", "somente", "apenas", "só", "deve", "devem", "precisa", "precisam", "tem que", "têm que", "não use", "senão", "antes de cada", "depois de cada", "ficam em", "fica em"],
        subjects: &["todos", "todas", "toda", "todo", "cada", "nenhum", "nenhuma", "usamos", "nosso", "nossa"],
        moments: &["por que", "ainda", "falha", "pode me", "você pode", "funcionou", "quando eu"],
    },
    Tongue {
        name: "ru",
        lasting: &["отныне", "впредь", "с этого момента", "с сегодняшнего дня"],
        norms: &["в будущем", "запрещено", "запрещается", "нельзя", "без моего", "без подтверждения", "не спросив", "в этом проекте", "в этом репозитории", "у нас", "запомни", "никогда не запускай", "никогда не"],
        manners: &["всегда", "никогда", "только", "исключительно", "должен", "должны", "должна", "надо", "нужно", "обязательно", "не используй", "не трогай", "перед каждым", "после каждого", "больше не"],
        subjects: &["все", "каждый", "каждая", "каждое", "новые", "любой", "мы", "наши", "используем"],
        moments: &["почему", "зачем", "до сих пор", "всё ещё", "опять", "можешь", "не работает", "падает", "упал"],
    },
    Tongue {
        name: "sv",
        lasting: &["från och med nu", "i fortsättningen", "hädanefter"],
        norms: &["förbjudet", "får inte", "hos oss", "i det här projektet", "utan att fråga", "kom ihåg"],
        manners: &["alltid", "aldrig", "endast", "bara", "måste", "ska", "inga", "inte längre", "före varje", "efter varje"],
        subjects: &["alla", "varje", "nya", "vi", "våra"],
        moments: &["varför", "fortfarande", "kan du", "fungerar inte"],
    },
    Tongue {
        name: "tr",
        lasting: &["bundan sonra", "bundan böyle"],
        norms: &["artık", "yasak", "bu projede", "bu depoda", "bizde", "bana sormadan", "sormadan", "unutma", "asla"],
        manners: &["her zaman", "daima", "hiçbir zaman", "sadece", "yalnızca", "mutlaka", "gerekir", "zorunda", "kullanma", "dokunma", "her commit"],
        subjects: &["tüm", "bütün", "her", "hiçbir", "yeni"],
        moments: &["neden", "niye", "hâlâ", "hala", "çalışmıyor", "misin", "mısın"],
    },
    Tongue {
        name: "uk",
        lasting: &["відтепер", "надалі"],
        norms: &["заборонено", "не можна", "у цьому проєкті", "в цьому репозиторії", "без мого", "у нас", "запам'ятай"],
        manners: &["завжди", "ніколи", "тільки", "лише", "повинен", "повинні", "треба", "потрібно", "обов'язково", "не використовуй", "не чіпай", "перед кожним", "більше не"],
        subjects: &["усі", "всі", "кожен", "кожна", "нові", "ми"],
        moments: &["чому", "досі", "можеш", "не працює", "падає"],
    },
    Tongue {
        name: "vi",
        lasting: &["từ bây giờ", "từ nay"],
        norms: &["cấm", "không được", "trong dự án này"],
        manners: &["luôn", "luôn luôn", "không bao giờ", "chỉ", "phải", "đừng"],
        subjects: &["tất cả", "mọi", "mỗi"],
        moments: &["tại sao", "vẫn"],
    },
    Tongue {
        name: "zh",
        lasting: &["以后", "今后", "从现在开始", "从现在起", "从今以后", "往后", "一律", "永远不要", "每次都要"],
        norms: &["禁止", "不许", "不准", "不得", "不允许", "严禁", "绝对不", "绝不", "本项目", "这个项目里", "我们项目", "务必", "記住", "记住", "必須", "必须", "統一", "统一"],
        manners: &["不要", "别", "只能", "只", "总是", "始终", "都要", "应该", "需要", "每次", "所有", "任何", "不能"],
        subjects: &[],
        moments: &["为什么", "怎么", "还是", "吗", "打不开", "报错", "帮我看", "什么"],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_whole() {
        assert!(TONGUES.is_sorted_by_key(|tongue| tongue.name));
        for tongue in TONGUES {
            for list in [tongue.lasting, tongue.norms, tongue.manners, tongue.moments] {
                assert!(!list.is_empty(), "{}", tongue.name);
                for word in list {
                    assert_eq!(*word, word.to_lowercase().trim(), "{}", tongue.name);
                    assert_eq!(is_spaced(word), tongue.is_spaced(), "{}: {word}", tongue.name);
                }
            }
        }
    }
}
