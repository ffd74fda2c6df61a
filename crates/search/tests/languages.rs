//! Questions in other languages than English find the session that has their words.
//!
//! The questions were written before anything was tried with them. Words are inflected,
//! compounds are cut, umlauts and accents are left out, as people type them.
#![allow(clippy::unwrap_used)]

mod shelf;

use jiff::civil::date;
use retro_disk::RealDisk;
use retro_model::{Passage, Piece, PieceKind, Timestamp};
use retro_search::{Ask, Mode, Numbered, Query, Ranker, Scope, Tail, TextFolder, TextIndex, search};
use shelf::Shelf;
use std::path::Path;
use std::sync::Arc;

/// Sessions: what the user said, and what the model answered.
const SESSIONS: &[(&str, &str, &str)] = &[
    (
        "token",
        "Beim Anmelden bekomme ich eine Fehlermeldung: Zugriffstoken abgelaufen.",
        "Das Zugriffstoken wird jetzt eine Minute vor dem Ablauf erneuert.",
    ),
    (
        "overview",
        "Die Übersichtsseite lädt zu langsam, bitte die Datenbankabfragen zusammenfassen.",
        "Aus vierzig Abfragen ist eine geworden, mit einem Index auf bestellung_id.",
    ),
    (
        "sizes",
        "Schreib die Größenangaben in den Rechnungen mit Komma statt Punkt.",
        "Die Zahlen werden jetzt nach der Ländereinstellung formatiert.",
    ),
    (
        "clipboard",
        "Können wir die Zwischenablage leeren, wenn das Passwort kopiert wurde?",
        "Nach dreißig Sekunden wird sie geleert.",
    ),
    (
        "collector",
        "Der Müllsammler läuft beim Herunterfahren nicht zu Ende.",
        "Der Dienst wartet jetzt auf den letzten Durchgang, bevor er sich beendet.",
    ),
    (
        "export",
        "L'export des factures échoue quand le client n'a pas d'adresse.",
        "J'ai rendu l'adresse facultative dans l'exportateur.",
    ),
    (
        "twice",
        "Pourquoi les notifications sont-elles envoyées deux fois ?",
        "Le verrou était libéré trop tôt, l'envoi est maintenant idempotent.",
    ),
    (
        "rename",
        "Renomme le champ « prénom » en « nom d'usage » partout.",
        "Le champ est renommé dans le schéma, les migrations et les tests.",
    ),
    (
        "rules",
        "Le cœur du moteur de règles consomme trop de mémoire.",
        "Les règles sont maintenant chargées à la demande.",
    ),
    (
        "cents",
        "El cálculo del impuesto redondea mal los céntimos.",
        "Ahora se redondea una sola vez, al final de la factura.",
    ),
    (
        "database",
        "¿Por qué falla la conexión con la base de datos al arrancar?",
        "El contenedor arrancaba antes que la base de datos; ahora espera y reintenta.",
    ),
    (
        "messages",
        "Traduce los mensajes de error de la página de pago.",
        "Los mensajes están traducidos, también los avisos de tarjeta rechazada.",
    ),
    (
        "customers",
        "Añade un índice para que la búsqueda de clientes sea más rápida.",
        "El índice cubre el nombre y el correo de los clientes.",
    ),
    (
        "garbled",
        "ログイン画面で文字化けが起きる。文字コードを直して。",
        "応答のヘッダーに文字コードを指定しました。",
    ),
    ("backup", "バックアップの復元に失敗した原因を調べて", "暗号化の鍵が古い世代のままでした。"),
    ("index", "索引の再構築が遅いので並列にしたい", "四つのスレッドで索引を作るようにしました。"),
    ("invoice", "請求書の金額を四捨五入してください", "最後に一度だけ丸めるようにしました。"),
    ("blank", "登录页面偶尔会白屏，请找出原因。", "是路由懒加载失败后没有重试。"),
    ("zone", "把日志的时间统一改成世界标准时间", "所有日志现在都用同一个时区。"),
    ("migration", "数据库迁移卡住了，怎么办？", "有一个长事务占着锁，我把它拆成了小批次。"),
    ("sums", "给导出的表格加上汇总行", "表格末尾现在有每一列的合计。"),
    (
        "discount",
        "결제 페이지에서 할인 금액이 두 번 빠집니다.",
        "할인은 이제 장바구니에서 한 번만 계산합니다.",
    ),
    (
        "jobs",
        "서버를 다시 시작하면 예약 작업이 사라져요",
        "예약 작업을 데이터베이스에 저장하도록 바꿨습니다.",
    ),
    ("flaky", "테스트가 가끔 실패하는 이유를 찾아 주세요", "시간에 의존하는 테스트였고 시계를 고정했습니다."),
    ("sorted", "검색 결과를 날짜 순서로 정렬해 주세요", "정렬 기준을 최신 날짜로 바꿨습니다."),
    (
        "english token",
        "The access token expires during login, please refresh it earlier.",
        "The token is renewed one minute before it expires.",
    ),
    (
        "english export",
        "Export of invoices fails without an address.",
        "The address is optional in the exporter now.",
    ),
    ("english lock", "Notifications are sent twice.", "The lock was released too early."),
    ("english die", "Why does the job die in the test?", "It was killed, it ran out of memory."),
];

/// Questions, and the session that has their words.
const QUESTIONS: &[(&str, &str)] = &[
    ("Warum war das Zugriffstoken abgelaufen?", "token"),
    ("Fehlermeldungen beim Anmelden", "token"),
    ("langsame Übersichtsseite", "overview"),
    ("Datenbank Abfragen zusammenfassen", "overview"),
    ("Uebersichtsseite laedt langsam", "overview"),
    ("Groessenangaben in der Rechnung", "sizes"),
    ("Zahlen formatieren nach Land", "sizes"),
    ("Wie lange bleibt das Passwort in der Zwischenablage?", "clipboard"),
    ("dreissig Sekunden", "clipboard"),
    ("Herunterfahren Müllsammler", "collector"),
    ("échec de l'export des factures", "export"),
    ("adresse facultative", "export"),
    ("notification envoyée deux fois", "twice"),
    ("verrou libéré trop tôt", "twice"),
    ("pourquoi l'envoi n'était pas idempotent", "twice"),
    ("renommer le champ prénom", "rename"),
    ("coeur du moteur de regles", "rules"),
    ("chargement des règles à la demande", "rules"),
    ("redondeo del impuesto", "cents"),
    ("céntimos mal redondeados", "cents"),
    ("conexion base de datos", "database"),
    ("reintentar al arrancar", "database"),
    ("tarjeta rechazada", "messages"),
    ("traducción de mensajes de error", "messages"),
    ("indice para buscar clientes", "customers"),
    ("búsqueda rápida de clientes", "customers"),
    ("文字化けの直し方", "garbled"),
    ("ログイン画面の文字コード", "garbled"),
    ("バックアップを復元できない", "backup"),
    ("暗号化の鍵が古い", "backup"),
    ("索引を並列に作る", "index"),
    ("再構築 スレッド", "index"),
    ("請求書の四捨五入", "invoice"),
    ("金額を丸める", "invoice"),
    ("登录白屏", "blank"),
    ("懒加载失败重试", "blank"),
    ("日志时区", "zone"),
    ("统一日志时间", "zone"),
    ("数据库迁移卡住", "migration"),
    ("长事务占锁", "migration"),
    ("导出表格汇总", "sums"),
    ("每一列的合计", "sums"),
    ("할인 금액 계산", "discount"),
    ("장바구니에서 할인이 두 번", "discount"),
    ("예약 작업 저장", "jobs"),
    ("서버 재시작 후 사라진 예약", "jobs"),
    ("가끔 실패하는 테스트", "flaky"),
    ("시계를 고정한 이유", "flaky"),
    ("날짜순 정렬", "sorted"),
    ("검색 결과 정렬", "sorted"),
];

/// Questions of one word in another form than the session has it.
const SINGLE: &[(&str, &str)] = &[
    ("Fehlermeldungen", "token"),
    ("Datenbankabfrage", "overview"),
    ("Groessenangabe", "sizes"),
    ("Übersicht", "overview"),
    ("exportateurs", "export"),
    ("redondear", "cents"),
    ("reintentos", "database"),
    ("traducción", "messages"),
    ("conexiones", "database"),
    ("索引", "index"),
    ("할인을", "discount"),
    ("日志", "zone"),
];

fn piece(kind: PieceKind, text: &str) -> Piece {
    Piece {
        kind,
        event: "m:1".to_owned(),
        at: Timestamp::from_millis(1_780_000_000_000),
        text: text.to_owned(),
        labels: Vec::new(),
    }
}

fn passages() -> Vec<Numbered> {
    let of = |(number, (_, asked, said)): (usize, &(&str, &str, &str))| Numbered {
        number: number as u64,
        session: number as u32,
        line: 0,
        passage: Passage {
            thread: "main".to_owned(),
            turn: 1,
            first: 0,
            live: true,
            pieces: vec![piece(PieceKind::User, asked), piece(PieceKind::Assistant, said)],
        },
    };
    SESSIONS.iter().enumerate().map(of).collect()
}

/// The questions whose session is not the first, with what is, where so many sessions are in
/// the index and the others beside it.
fn missed(questions: &[(&str, &str)], indexed: usize) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let passages = passages();
    let mut writer = TextFolder::new(folder.path(), Arc::new(RealDisk)).start_over(indexed).unwrap();
    passages.iter().take(indexed).for_each(|numbered| writer.put(numbered).unwrap());
    writer.commit("here").unwrap();
    let tail = Tail { passages: passages[indexed..].to_vec(), hidden: Vec::new() };
    let shelf =
        Shelf { passages: passages.into_iter().map(|numbered| (numbered.number, numbered)).collect() };
    let missed = |(question, right): &(&str, &str)| {
        let first = first(question, folder.path(), &tail, &shelf);
        (first != Some(*right)).then(|| format!("{question}: {first:?}"))
    };
    questions.iter().filter_map(missed).collect()
}

fn first(question: &str, folder: &Path, tail: &Tail, shelf: &Shelf) -> Option<&'static str> {
    let ask = Ask {
        query: &Query::parse(question, date(2026, 11, 17)),
        scope: &Scope::default(),
        mode: Mode::Words,
        ranker: &Ranker::new().unwrap(),
        limit: 5,
        per_session: 3,
        exact: None,
        now_ms: 1_790_000_000_000,
        is_here: &|_| false,
    };
    let found = search(TextIndex::open(folder).as_ref(), tail, shelf, None, &ask).unwrap();
    found.sessions.first().map(|session| SESSIONS[session.session as usize].0)
}

#[test]
fn questions_find_the_session_that_has_their_words() {
    for indexed in [SESSIONS.len(), 9, 0] {
        assert_eq!(missed(QUESTIONS, indexed), Vec::<String>::new(), "{indexed} in the index");
    }
}

#[test]
fn one_word_in_another_form_is_enough() {
    for indexed in [SESSIONS.len(), 9, 0] {
        assert_eq!(missed(SINGLE, indexed), Vec::<String>::new(), "{indexed} in the index");
    }
}
