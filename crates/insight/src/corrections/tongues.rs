//! The signs of corrections in languages other than English, as data.

use retro_text::tongue::{is_spaced, words};

use super::words::Weighed;

/// The signs of corrections in one language.
struct Tongue {
    /// Its ISO 639-1 code, such as `de`. The table is sorted by it.
    #[allow(dead_code)]
    name: &'static str,
    /// "No", "wrong", "not like this", "I meant", "undo that".
    rejections: &'static [&'static str],
    /// "Still", "does not work", "again", "error": the result is not right.
    reports: &'static [&'static str],
    /// "Can you", "please add", "now", "next", "why": a request.
    requests: &'static [&'static str],
    /// "Thanks", "great" and other praise.
    thanks: &'static [&'static str],
}

/// Weighs a message by the language with the strongest signs. `None` if no language has any.
pub(super) fn weigh(text: &str) -> Option<Weighed> {
    let spaced = is_spaced(text);
    let said = if spaced { words(text) } else { text.to_lowercase() };
    let all = TONGUES.iter().filter(|tongue| tongue.is_spaced() == spaced);
    let weighed = all.filter_map(|tongue| tongue.weigh(&said, spaced, text.trim_end()));
    weighed.max_by(|a, b| a.weight.total_cmp(&b.weight))
}

impl Tongue {
    fn is_spaced(&self) -> bool {
        self.rejections.first().is_some_and(|word| is_spaced(word))
    }

    fn weigh(&self, said: &str, spaced: bool, text: &str) -> Option<Weighed> {
        let has = |sign: &&&str| match spaced {
            true => said.contains(&words(sign)),
            false => said.contains(**sign),
        };
        let count = |signs: &[&str]| signs.iter().filter(has).count();
        let (rejections, reports) = (count(self.rejections), count(self.reports));
        if rejections + reports == 0 {
            return None;
        }
        let is = |holds: bool, weight: f64| if holds { weight } else { 0.0 };
        let weight =
            is(rejections > 0, 1.2) + is(rejections > 1, 0.6) + is(reports > 0, 0.8) + is(reports > 1, 0.5)
                - is(count(self.requests) > 0, 0.7)
                - is(count(self.thanks) > 0, 0.9)
                - is(text.ends_with(['?', '？', '؟']), 0.4);
        Some(Weighed { weight, rejects: rejections > 0, reports: reports > 0 })
    }
}

#[rustfmt::skip]
const TONGUES: &[Tongue] = &[
    Tongue {
        name: "ar",
        rejections: &["لا هذا", "خطأ", "ليس صحيح", "ليس صحيحا", "ليس هذا", "لم أطلب", "قلت لك", "كنت أقصد", "تراجع", "لا تفعل", "لماذا فعلت", "لماذا حذفت", "توقف"],
        reports: &["لا يعمل", "لا تعمل", "ما زال", "لا يزال", "مرة أخرى", "لا يظهر", "لا أرى", "فشل", "مكسور"],
        requests: &["هل يمكنك", "أضف", "من فضلك أضف", "الآن"],
        thanks: &["شكرا", "ممتاز", "رائع"],
    },
    Tongue {
        name: "de",
        rejections: &["nein", "falsch", "stopp", "so nicht", "nicht so", "das stimmt nicht", "stimmt nicht", "ich meinte", "ich meine", "ich sagte", "ich hatte gesagt", "habe ich gesagt", "habe nicht gesagt", "nicht gewollt", "wollte ich nicht", "nicht verlangt", "warum hast du", "wieso hast du", "du hast vergessen", "vergessen", "rückgängig", "mach das zurück", "zurücksetzen", "lass das", "nicht anfassen", "hättest", "sollte nicht", "sondern", "statt", "stattdessen", "eigentlich", "doch nicht", "bitte nicht", "bitte kein", "bitte keine", "mach das nicht", "gehört da nicht"],
        reports: &["immer noch", "noch immer", "geht nicht", "funktioniert nicht", "klappt nicht", "läuft nicht", "nicht mehr", "schon wieder", "wieder nicht", "kaputt", "fehler", "fehlt", "fehlen", "doppelt", "zu groß", "zu klein", "zu breit", "zu lang", "nichts passiert", "passiert nichts", "sehe nichts", "sehe keine", "sehe keinen", "wird nicht", "werden nicht", "ist nicht", "leer", "aber"],
        requests: &["kannst du", "könntest du", "füge", "erstelle", "als nächstes", "jetzt noch", "bitte noch", "erkläre", "zeige mir"],
        thanks: &["danke", "super", "perfekt", "passt so", "sieht gut aus"],
    },
    Tongue {
        name: "es",
        rejections: &["no así", "eso no", "está mal", "incorrecto", "no es correcto", "no es eso", "no era eso", "quise decir", "me refería", "te dije", "no te pedí", "no pedí", "por qué has", "por qué borraste", "por qué cambiaste", "olvidaste", "te olvidaste", "deshaz", "revierte", "vuelve a poner", "no deberías", "no debería", "en lugar de", "en vez de", "no quiero", "no hagas", "no toques", "no uses", "para ya", "equivocado", "equivocada"],
        reports: &["no funciona", "todavía", "sigue sin", "sigue igual", "sigue fallando", "otra vez", "de nuevo", "falla", "error", "no aparece", "no veo", "no se ve", "roto", "falta", "faltan", "duplicado", "demasiado", "no pasa nada", "pero", "ya no"],
        requests: &["puedes", "podrías", "añade", "agrega", "crea", "ahora", "por favor añade", "explica", "muéstrame"],
        thanks: &["gracias", "perfecto", "genial", "muy bien"],
    },
    Tongue {
        name: "fr",
        rejections: &["non", "faux", "c'est faux", "pas comme ça", "ce n'est pas ça", "ce n'est pas ce que", "pas ce que", "je voulais dire", "je t'ai dit", "j'ai dit", "je n'ai pas demandé", "pourquoi as-tu", "pourquoi tu as", "tu as oublié", "tu as cassé", "annule", "reviens en arrière", "remets", "tu n'aurais pas dû", "au lieu de", "plutôt que", "en fait", "ne fais pas", "ne touche pas", "n'utilise pas", "arrête", "je ne veux pas", "il ne fallait pas"],
        reports: &["ne marche pas", "marche pas", "ne fonctionne pas", "fonctionne pas", "toujours pas", "encore une fois", "toujours la même", "encore", "erreur", "échoue", "cassé", "manque", "rien ne se passe", "je ne vois pas", "n'apparaît pas", "ne s'affiche pas", "trop grand", "trop petit", "mais", "plus rien"],
        requests: &["peux-tu", "pouvez-vous", "pourrais-tu", "ajoute", "crée", "maintenant", "ensuite", "explique", "montre-moi"],
        thanks: &["merci", "parfait", "super", "génial"],
    },
    Tongue {
        name: "hi",
        rejections: &["गलत", "नहीं ऐसे नहीं", "ऐसा नहीं", "मैंने कहा था", "मेरा मतलब", "मत करो", "वापस करो", "हटाओ मत", "क्यों हटाया", "क्यों बदला", "के बजाय", "नहीं चाहिए"],
        reports: &["काम नहीं कर", "अभी भी", "फिर से", "त्रुटि", "एरर", "नहीं दिख", "टूट", "कुछ नहीं होता", "लेकिन"],
        requests: &["क्या आप", "जोड़ो", "बनाओ", "अब"],
        thanks: &["धन्यवाद", "बढ़िया"],
    },
    Tongue {
        name: "it",
        rejections: &["no non", "sbagliato", "è sbagliato", "non così", "non è così", "non è corretto", "non è quello che", "intendevo", "volevo dire", "ti ho detto", "ho detto", "non ho chiesto", "perché hai", "hai dimenticato", "hai rotto", "annulla", "ripristina", "rimetti", "non dovevi", "invece di", "piuttosto che", "non voglio", "non fare", "non toccare", "non usare", "fermati", "in realtà"],
        reports: &["non funziona", "ancora", "di nuovo", "errore", "fallisce", "non va", "non si vede", "non vedo", "non appare", "rotto", "manca", "mancano", "doppio", "troppo", "non succede niente", "ma", "però"],
        requests: &["puoi", "potresti", "aggiungi", "crea", "adesso", "ora", "spiega", "mostrami"],
        thanks: &["grazie", "perfetto", "ottimo"],
    },
    Tongue {
        name: "ja",
        rejections: &["違い", "違う", "ちがう", "間違", "そうではなく", "そうじゃなく", "ではなく", "じゃなくて", "と言いました", "と言った", "言ったはず", "頼んでい", "頼んでない", "なぜ消", "なぜ変", "なんで消", "戻して", "元に戻", "取り消", "やめて", "しないで", "勝手に", "いらない", "不要です", "不要な", "直してください", "直して", "修正してください", "べきです", "はずです", "忘れて"],
        reports: &["動かない", "動きません", "動いていません", "まだ", "また", "エラー", "失敗", "表示されない", "表示されません", "表示されていません", "見えない", "見えません", "おかしい", "壊れ", "変わらない", "変わっていません", "変わりません", "できない", "できません", "できていません", "なっていません", "なっていない", "されていません", "されていない", "足りない", "ですが", "けど"],
        requests: &["追加して", "作成して", "作って", "教えて", "説明して", "次に", "次は", "できますか", "実装して"],
        thanks: &["ありがとう", "いいですね", "完璧", "助かり"],
    },
    Tongue {
        name: "ko",
        rejections: &["아니", "틀렸", "틀려", "잘못", "그게 아니라", "말고", "라고 했", "말했", "요청하지 않", "왜 지웠", "왜 바꿨", "왜 삭제", "되돌려", "원래대로", "취소", "하지 마", "멈춰", "필요 없", "고쳐", "수정해", "대신", "빠뜨렸", "빼먹"],
        reports: &["안 돼", "안돼", "안 됩니다", "안됩니다", "작동하지 않", "동작하지 않", "여전히", "아직도", "아직", "또", "오류", "에러", "실패", "안 보", "보이지 않", "이상", "깨졌", "깨져", "그대로", "없어요", "누락", "나오지 않", "안 나"],
        requests: &["추가해", "만들어", "알려", "설명해", "다음", "이제", "할 수 있"],
        thanks: &["감사", "고마", "좋아요", "완벽"],
    },
    Tongue {
        name: "nl",
        rejections: &["nee", "fout", "verkeerd", "niet zo", "dat klopt niet", "klopt niet", "ik bedoelde", "ik bedoel", "ik zei", "niet gevraagd", "waarom heb je", "je bent vergeten", "vergeten", "draai terug", "zet terug", "ongedaan", "in plaats van", "doe dat niet", "niet aankomen", "stop", "wil ik niet", "wil geen", "eigenlijk"],
        reports: &["werkt niet", "nog steeds", "weer", "opnieuw mis", "fout in", "mislukt", "kapot", "ontbreekt", "zie niets", "zie geen", "gebeurt niets", "te groot", "te klein", "niet meer", "maar", "dubbel"],
        requests: &["kun je", "kan je", "zou je", "voeg", "maak", "nu nog", "daarna", "leg uit"],
        thanks: &["bedankt", "dank", "perfect", "prima"],
    },
    Tongue {
        name: "pl",
        rejections: &["nie tak", "źle", "błędnie", "to nie to", "nie o to", "chodziło mi", "miałem na myśli", "mówiłem", "powiedziałem", "nie prosiłem", "dlaczego usunąłeś", "dlaczego zmieniłeś", "czemu usunąłeś", "zapomniałeś", "cofnij", "przywróć", "zamiast", "nie rób", "nie ruszaj", "nie zmieniaj", "przestań", "nie chcę", "właściwie"],
        reports: &["nie działa", "nadal", "wciąż", "znowu", "znów", "błąd", "zepsute", "zepsułeś", "brakuje", "nie widzę", "nie widać", "nic się nie", "za duży", "za mały", "ale", "już nie", "podwójnie"],
        requests: &["czy możesz", "możesz", "dodaj", "utwórz", "teraz", "następnie", "wyjaśnij", "pokaż"],
        thanks: &["dzięki", "dziękuję", "super", "świetnie"],
    },
    Tongue {
        name: "pt",
        rejections: &["errado", "está errado", "assim não", "não é isso", "não era isso", "não é o que", "eu quis dizer", "eu disse", "já disse", "não pedi", "por que você", "por que apagou", "você esqueceu", "esqueceu", "desfaça", "desfaz", "reverta", "volte como", "não deveria", "em vez de", "ao invés de", "não quero", "não faça", "não mexa", "não use", "pare", "na verdade"],
        reports: &["não funciona", "não funcionou", "ainda", "de novo", "novamente", "erro", "falha", "falhou", "quebrou", "quebrado", "não aparece", "não vejo", "falta", "faltam", "faltando", "duplicado", "muito grande", "muito pequeno", "nada acontece", "mas", "continua"],
        requests: &["você pode", "pode me", "poderia", "adicione", "crie", "agora", "depois", "explique", "mostre"],
        thanks: &["obrigado", "obrigada", "perfeito", "ótimo", "valeu"],
    },
    Tongue {
        name: "ru",
        rejections: &["нет", "неправильно", "неверно", "не так", "не то", "не надо", "не нужно", "я имел в виду", "я имела в виду", "я говорил", "я же говорил", "я сказал", "я не просил", "зачем ты", "почему ты", "ты забыл", "ты сломал", "верни", "откати", "отмени", "вместо", "не трогай", "не делай", "не меняй", "прекрати", "стоп", "на самом деле", "исправь"],
        reports: &["не работает", "всё ещё", "все еще", "до сих пор", "опять", "снова", "ошибка", "падает", "сломалось", "сломано", "не вижу", "не видно", "не появляется", "не отображается", "пропал", "пропала", "не хватает", "ничего не", "слишком", "но", "больше не", "дважды"],
        requests: &["можешь", "добавь", "создай", "сделай", "теперь", "дальше", "объясни", "покажи"],
        thanks: &["спасибо", "отлично", "супер", "хорошо"],
    },
    Tongue {
        name: "sv",
        rejections: &["nej", "fel", "inte så", "stämmer inte", "jag menade", "jag sa", "bad inte om", "varför har du", "varför tog du", "du glömde", "ångra", "återställ", "istället för", "gör inte", "rör inte", "sluta", "vill inte ha", "egentligen"],
        reports: &["fungerar inte", "fortfarande", "igen", "trasig", "saknas", "ser inget", "ser ingen", "händer inget", "för stor", "för liten", "men", "inte längre", "dubbelt"],
        requests: &["kan du", "skulle du", "lägg till", "skapa", "nu", "sedan", "förklara"],
        thanks: &["tack", "perfekt", "toppen"],
    },
    Tongue {
        name: "tr",
        rejections: &["hayır", "yanlış", "öyle değil", "böyle değil", "demek istedim", "demiştim", "söylemiştim", "istemedim", "istemiyorum", "neden sildin", "neden değiştirdin", "niye sildin", "unuttun", "bozdun", "geri al", "eski haline", "yerine", "yapma", "dokunma", "kullanma", "dur", "aslında", "düzelt"],
        reports: &["çalışmıyor", "hâlâ", "hala", "yine", "tekrar", "hata", "bozuk", "görünmüyor", "göremiyorum", "eksik", "hiçbir şey olmuyor", "çok büyük", "çok küçük", "ama", "artık", "iki kez"],
        requests: &["yapabilir misin", "ekle", "oluştur", "şimdi", "sonra", "açıkla", "göster"],
        thanks: &["teşekkür", "teşekkürler", "harika", "mükemmel"],
    },
    Tongue {
        name: "uk",
        rejections: &["ні", "неправильно", "не так", "не те", "не треба", "я мав на увазі", "я казав", "я сказав", "я не просив", "навіщо ти", "чому ти", "ти забув", "ти зламав", "поверни", "відкоти", "скасуй", "замість", "не чіпай", "не роби", "не змінюй", "стоп", "виправ"],
        reports: &["не працює", "досі", "все ще", "знову", "помилка", "падає", "зламано", "зламалось", "не бачу", "не видно", "зник", "зникла", "бракує", "нічого не", "занадто", "але", "більше не", "двічі"],
        requests: &["можеш", "додай", "створи", "зроби", "тепер", "далі", "поясни", "покажи"],
        thanks: &["дякую", "чудово", "супер"],
    },
    Tongue {
        name: "vi",
        rejections: &["sai rồi", "không phải", "không đúng", "ý tôi là", "tôi đã nói", "tôi không yêu cầu", "tại sao lại xóa", "quên", "hoàn tác", "khôi phục", "thay vì", "đừng", "dừng lại", "sửa lại"],
        reports: &["không hoạt động", "không chạy", "vẫn", "vẫn còn", "lại bị", "lỗi", "bị hỏng", "không thấy", "không hiện", "thiếu", "không có gì xảy ra", "quá to", "quá nhỏ", "nhưng"],
        requests: &["bạn có thể", "thêm", "tạo", "bây giờ", "tiếp theo", "giải thích"],
        thanks: &["cảm ơn", "tuyệt", "hoàn hảo"],
    },
    Tongue {
        name: "zh",
        rejections: &["不对", "错了", "不是这", "不是这样", "我说的是", "我是说", "我的意思是", "我说过", "没让你", "没叫你", "为什么删", "为什么改", "为什么要", "你忘了", "撤销", "回退", "恢复", "改回", "而不是", "不要", "别动", "别再", "停", "不需要", "不应该", "应该是", "搞错", "弄错", "重新改", "修正"],
        reports: &["还是", "仍然", "依然", "又", "报错", "错误", "失败", "不行", "没有生效", "没生效", "不起作用", "没反应", "看不到", "没看到", "不显示", "没有显示", "打不开", "坏了", "少了", "缺少", "重复", "太大", "太小", "没有变化", "但是", "没变"],
        requests: &["能不能", "可以帮", "请添加", "添加一个", "增加一个", "接下来", "然后", "解释", "帮我写", "现在"],
        thanks: &["谢谢", "很好", "完美", "不错"],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_in_one_form() {
        assert!(TONGUES.is_sorted_by_key(|tongue| tongue.name));
        for tongue in TONGUES {
            for list in [tongue.rejections, tongue.reports, tongue.requests, tongue.thanks] {
                assert!(!list.is_empty(), "{}", tongue.name);
                for word in list {
                    assert_eq!(*word, word.to_lowercase().trim(), "{}", tongue.name);
                    assert_eq!(is_spaced(word), tongue.is_spaced(), "{}: {word}", tongue.name);
                }
            }
        }
    }
}
