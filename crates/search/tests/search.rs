//! The text index and ranking together, over passages that the tests write.
#![allow(clippy::unwrap_used)]

mod shelf;

use jiff::civil::date;
use retro_disk::RealDisk;
use retro_model::{Passage, Piece, PieceKind, Timestamp};
use retro_search::{
    Ask, Found, Library, Mode, Numbered, Query, Ranker, Scope, Tail, TextFolder, TextIndex, search,
};
use shelf::Shelf;
use std::path::Path;
use std::sync::Arc;

fn passage(number: u64, session: u32, first: u32, texts: &[(PieceKind, &str)]) -> Numbered {
    let pieces = texts.iter().enumerate().map(|(at, (kind, text))| Piece {
        kind: *kind,
        event: format!("m:{number}.{at}"),
        at: Timestamp::from_millis(1_780_000_000_000 + i64::from(session) * 86_400_000),
        text: (*text).to_owned(),
        labels: if *kind == PieceKind::Error { vec!["is:failed".to_owned()] } else { Vec::new() },
    });
    let passage = Passage { thread: "main".to_owned(), turn: 1, first, live: true, pieces: pieces.collect() };
    Numbered { number, session, line: 0, passage }
}

use PieceKind::{Assistant, Command, Error, Output, User};

fn story() -> Vec<Numbered> {
    vec![
        passage(
            1,
            1,
            0,
            &[
                (User, "The cart total is off by one cent when a discount applies"),
                (Assistant, "Rounding happens before the discount, so I round once at the end"),
                (Command, "cargo test cart_total"),
                (Error, "error[E0308]: mismatched types in src/cart.rs:42"),
            ],
        ),
        passage(2, 1, 4, &[(User, "commit that"), (Assistant, "Committed as a fix for rounding")]),
        passage(
            3,
            2,
            0,
            &[
                (User, "Why does the deploy job hang?"),
                (Assistant, "The runner waits for a lock that the migration never releases"),
                (Output, "waiting for lock on table orders"),
            ],
        ),
        passage(
            4,
            3,
            0,
            &[(User, "Write a README for the shop"), (Assistant, "Done, it explains the discount rules")],
        ),
        passage(5, 4, 0, &[(User, "ログの検索が遅い"), (Assistant, "索引を作りました")]),
    ]
}

/// A folder in memory where there is one: commits of an index wait for the disk.
fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory).unwrap() } else { tempfile::tempdir().unwrap() }
}

/// The text index in a folder.
fn text(folder: &Path) -> TextFolder {
    TextFolder::new(folder, Arc::new(RealDisk))
}

struct World {
    folder: tempfile::TempDir,
    shelf: Shelf,
    tail: Tail,
}

impl World {
    /// The first `indexed` passages in the index, the others in the tail.
    fn new(passages: Vec<Numbered>, indexed: usize) -> World {
        let folder = folder();
        let mut writer = text(folder.path()).start_over(indexed).unwrap();
        passages.iter().take(indexed).for_each(|numbered| writer.put(numbered).unwrap());
        writer.commit("here").unwrap();
        let tail = Tail { passages: passages[indexed..].to_vec(), hidden: Vec::new() };
        let shelf =
            Shelf { passages: passages.into_iter().map(|numbered| (numbered.number, numbered)).collect() };
        World { folder, shelf, tail }
    }

    fn find(&self, text: &str) -> Found {
        self.find_in(text, &Scope::default())
    }

    fn find_in(&self, text: &str, scope: &Scope) -> Found {
        let query = Query::parse(text, date(2026, 11, 17));
        let index = TextIndex::open(self.folder.path());
        let ask = Ask {
            query: &query,
            scope,
            mode: Mode::Words,
            ranker: &Ranker::new().unwrap(),
            limit: 10,
            per_session: 3,
            exact: None,
            now_ms: 1_790_000_000_000,
            is_here: &|_| false,
        };
        search(index.as_ref(), &self.tail, &self.shelf, None, &ask).unwrap()
    }

    fn sessions(&self, text: &str) -> Vec<u32> {
        self.find(text).sessions.iter().map(|session| session.session).collect()
    }
}

fn scores(found: &Found) -> Vec<(u32, String)> {
    found.sessions.iter().map(|session| (session.session, format!("{:.9}", session.score))).collect()
}

#[test]
fn a_question_finds_the_session_that_answers_it() {
    let world = World::new(story(), 5);
    assert_eq!(world.sessions("why was the cart total wrong with a discount?")[0], 1);
    assert_eq!(world.sessions("deploy hangs on a lock")[0], 2);
    assert_eq!(world.sessions("検索")[0], 4);
    let found = world.find("rounding discount");
    assert_eq!(found.sessions[0].pieces[0].piece, 1);
    assert!(!found.is_unsure);
}

#[test]
fn an_exact_code_comes_first() {
    let world = World::new(story(), 5);
    let found = world.find("E0308");
    assert_eq!((found.sessions[0].session, found.sessions[0].pieces[0].piece), (1, 3));
    assert!(found.sessions[0].pieces[0].is_literal);
}

#[test]
fn part_of_a_path_is_a_weak_hit() {
    let told = |text: &str| vec![passage(1, 1, 0, &[(Assistant, text)])];
    let is_unsure = |text: &str| World::new(told(text), 1).find("src/cart/main.rs").is_unsure;
    assert!(is_unsure("The main cart is in another folder, src."));
    assert!(!is_unsure("It is in src/cart/main.rs now."));
    assert!(!is_unsure("Below src, in cart, there is a main.rs."));
}

#[test]
fn phrases_and_conditions_hold_for_the_turn() {
    let world = World::new(story(), 5);
    assert_eq!(world.sessions("\"off by one\""), [1]);
    assert_eq!(world.sessions("\"one by off\""), Vec::<u32>::new());
    assert_eq!(world.sessions("discount -README"), [1]);
    assert_eq!(world.sessions("cmd:\"cargo test\""), [1]);
    assert_eq!(world.sessions("is:failed"), [1]);
    assert_eq!(world.sessions("lock is:failed"), Vec::<u32>::new());
}

#[test]
fn what_is_not_in_the_index_yet_is_found_with_the_same_scores() {
    let whole = World::new(story(), 5);
    for indexed in 0..5 {
        let split = World::new(story(), indexed);
        for query in
            ["discount", "lock waiting", "\"off by one\"", "is:failed", "cart_total rounding", "索引"]
        {
            assert_eq!(
                scores(&split.find(query)),
                scores(&whole.find(query)),
                "{query} with {indexed} indexed"
            );
        }
    }
}

#[test]
fn neither_merges_nor_replacements_change_the_order() {
    let whole = World::new(story(), 5);
    let world = World::new(story(), 5);
    for round in 0..10 {
        let mut writer = text(world.folder.path()).resume(5).unwrap().unwrap();
        let mark = text(world.folder.path()).mark().unwrap();
        assert_eq!(mark, if round == 0 { "here".to_owned() } else { (round - 1).to_string() });
        for _ in 0..40 {
            for numbered in story().iter().filter(|numbered| (numbered.number + round) % 2 == 0) {
                writer.put(numbered).unwrap();
            }
        }
        writer.commit(&round.to_string()).unwrap();
    }
    for query in ["discount", "lock waiting", "rounding", "E0308", "why does it hang"] {
        assert_eq!(scores(&world.find(query)), scores(&whole.find(query)), "{query}");
    }
    assert_eq!(TextIndex::open(world.folder.path()).unwrap().pieces(), whole.shelf.extent().pieces);
}

#[test]
fn a_passage_that_was_removed_or_changed_is_not_found_as_it_was() {
    let mut world = World::new(story(), 5);
    world.tail.hidden = vec![3];
    world.shelf.passages.remove(&3);
    assert_eq!(world.sessions("migration"), Vec::<u32>::new());
    let mut writer = text(world.folder.path()).resume(1).unwrap().unwrap();
    writer.remove(1);
    writer.commit("later").unwrap();
    world.shelf.passages.remove(&1);
    assert_eq!(world.sessions("E0308"), Vec::<u32>::new());
}

#[test]
fn an_index_that_was_touched_is_not_believed() {
    let world = World::new(story(), 5);
    let mut files: Vec<_> = std::fs::read_dir(world.folder.path().join("1")).unwrap().flatten().collect();
    files.sort_by_key(|entry| entry.file_name());
    for entry in files.iter().filter(|entry| entry.metadata().unwrap().len() > 0) {
        let name = entry.file_name().into_string().unwrap();
        if name.ends_with(".lock") || name.starts_with('.') {
            continue;
        }
        let before = std::fs::read(entry.path()).unwrap();
        let mut bytes = before.clone();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x55;
        std::fs::write(entry.path(), &bytes).unwrap();
        assert!(TextIndex::open(world.folder.path()).is_none(), "{name}");
        std::fs::write(entry.path(), &before).unwrap();
    }
    // The bytes are as they were, so the checksums are right and a writer goes on.
    assert!(text(world.folder.path()).resume(1).unwrap().is_some());
}

#[test]
fn a_writer_that_was_killed_before_its_seal_is_followed_by_one_that_goes_on() {
    let world = World::new(story(), 5);
    let seal = world.folder.path().join("1/seal");
    std::fs::remove_file(&seal).unwrap();
    assert!(TextIndex::open(world.folder.path()).is_none(), "readers do not trust it");
    assert_eq!(text(world.folder.path()).mark().as_deref(), Some("here"), "the checksums are right");
    assert!(TextIndex::open(world.folder.path()).is_some());
    // A new index that was never finished is not in use.
    let mut writer = text(world.folder.path()).start_over(1).unwrap();
    writer.put(&story()[0]).unwrap();
    drop(writer);
    assert_eq!(world.sessions("deploy hangs")[0], 2);
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let world = World::new(story(), 5);
    let other = folder();
    let link = other.path().join("link");
    std::os::unix::fs::symlink(world.folder.path(), &link).unwrap();
    assert!(TextIndex::open(&link).is_none() && text(&link).mark().is_none());
    assert!(text(&link).start_over(1).is_err());
    let (inside, away) = (world.folder.path().join("1"), other.path().join("away"));
    std::fs::rename(&inside, &away).unwrap();
    std::os::unix::fs::symlink(&away, &inside).unwrap();
    assert!(TextIndex::open(world.folder.path()).is_none() && text(world.folder.path()).mark().is_none());
}

#[test]
fn scope_limits_what_is_found() {
    let world = World::new(story(), 3);
    let only =
        |sessions: &[u32]| Scope { sessions: Some(sessions.iter().copied().collect()), ..Scope::default() };
    let found = |scope: &Scope| -> Vec<u32> {
        world.find_in("discount", scope).sessions.iter().map(|session| session.session).collect()
    };
    assert_eq!(found(&only(&[3])), [3]);
    assert_eq!(found(&Scope { kinds: Some(vec![Assistant]), ..only(&[1]) }), [1]);
    assert_eq!(found(&Scope { kinds: Some(vec![Output]), ..Scope::default() }), Vec::<u32>::new());
    let since = Some(1_780_000_000_000 + 3 * 86_400_000);
    assert_eq!(found(&Scope { since_ms: since, ..Scope::default() }), [3]);
    assert_eq!(found(&Scope { until_ms: since, ..Scope::default() }), [1]);
}

#[test]
fn the_session_with_the_very_path_comes_before_many_with_its_words() {
    let mut passages: Vec<Numbered> = (1..=120)
        .map(|number| passage(number, number as u32, 0, &[(Output, "rs tax cart rs tax cart rs tax cart")]))
        .collect();
    let noise = "a long answer about everything else that was done on this day, ".repeat(12);
    passages.push(passage(121, 121, 0, &[(Assistant, &format!("{noise} cart/tax.rs {noise}"))]));
    for indexed in [0, 121] {
        let found = World::new(passages.clone(), indexed).sessions("cart/tax.rs");
        assert_eq!(found.first(), Some(&121), "{indexed} of 121 in the index");
    }
}

#[test]
fn a_word_that_is_nowhere_suggests_one_that_is() {
    let found = World::new(story(), 5).find("roundng");
    assert!(found.is_unsure && found.sessions[0].session == 1, "it may be a slip of the finger");
    assert_eq!(found.suggestions, ["round"]);
    assert!(World::new(story(), 5).find("zebrafish").sessions.is_empty());
}

#[test]
fn a_code_that_is_nowhere_suggests_a_code_and_no_number() {
    let suggested = |text: &str| World::new(story(), 5).find(text).suggestions;
    assert_eq!(suggested("E0309"), ["e0308"]);
    assert!(suggested("0309").is_empty());
}

#[test]
fn signs_in_prose_change_no_first_session() {
    let world = World::new(story(), 3);
    for (text, plain) in [
        ("why is the \"cart\" -total off by \"one\" cent", "why is the cart total off by one cent"),
        (
            "deploy: \"waiting for lock\" on the -t orders table",
            "deploy: waiting for lock on the t orders table",
        ),
        ("error in file:///src/cart.rs and -n mismatched", "error in file///src/cart.rs and n mismatched"),
        ("the deploy job, model: small, hangs on \"lock\"", "the deploy job, model small, hangs on lock"),
    ] {
        let (signed, bare) = (world.find(text), world.find(plain));
        assert!(!signed.sessions.is_empty(), "{text}");
        assert_eq!(scores(&signed), scores(&bare), "{text}");
    }
}

#[test]
fn a_name_in_a_sentence_is_one_of_its_words() {
    // Many sessions hold all parts of the name, one the words of the question.
    let mut passages: Vec<Numbered> = (1..=150)
        .map(|number| passage(number, number as u32, 0, &[(Output, "set v1.2 of the package")]))
        .collect();
    let answer = "the harbour crane stops when the wind sensor reports gusts of version one";
    passages.push(passage(151, 151, 0, &[(Assistant, answer)]));
    let found = World::new(passages, 151).sessions("why does the harbour crane stop on wind gusts in v1.2");
    assert_eq!(found.first(), Some(&151));
}

/// Pieces that all hold one word, in texts of many lengths.
fn crowd(sessions: u32, pieces: u32) -> Vec<Numbered> {
    let of_session = |session: u32| {
        let text = |piece: u32| {
            let number = session * pieces + piece;
            let (often, long) = (1 + number * 7 % 3, number * 31 % 17);
            let rarer = if number.is_multiple_of(11) { "harbour" } else { "river" };
            format!("{}{}{rarer}", "ship ".repeat(often as usize), "and other words ".repeat(long as usize))
        };
        let texts: Vec<String> = (0..pieces).map(text).collect();
        let texts: Vec<(PieceKind, &str)> = texts.iter().map(|text| (Assistant, text.as_str())).collect();
        passage(u64::from(session), session, 0, &texts)
    };
    (1..=sessions).map(of_session).collect()
}

#[test]
fn of_a_word_that_nearly_everything_holds_the_same_pieces_count_wherever_they_are() {
    let passages = crowd(140, 200);
    let indexed = World::new(passages.clone(), 140);
    let split = World::new(passages.clone(), 70);
    let waiting = World::new(passages, 0);
    for query in ["ship", "ship words", "river ship and other"] {
        let found = scores(&waiting.find(query));
        assert_eq!(found.len(), 10, "{query}");
        assert_eq!(scores(&indexed.find(query)), found, "{query} from the index");
        assert_eq!(scores(&split.find(query)), found, "{query} from half of each");
    }
}

/// A session for each language, told twice: once about what is asked, once about something else.
fn languages() -> Vec<(&'static str, &'static str, &'static str)> {
    vec![
        (
            "検索の索引を作り直すとディスクが足りなくなる",
            "画面の色を設定から変えられるようにした",
            "索引の作り直しでディスクが足りない",
        ),
        ("数据库迁移失败，因为外键约束没有删除", "把登录页面的按钮改成蓝色", "外键约束导致迁移失败的问题"),
        (
            "로그인 토큰이 만료되면 세션이 끊어진다",
            "목록의 정렬 순서를 날짜로 바꾸었다",
            "토큰이 만료될 때 세션이 왜 끊어지나요?",
        ),
        (
            "Die Rechnung wird doppelt verschickt, weil der Zeitplan zweimal läuft",
            "Der Knopf auf der Startseite ist jetzt größer",
            "warum wird die Rechnung doppelt verschickt?",
        ),
        (
            "Le téléversement échoue dès que le fichier dépasse dix mégaoctets",
            "La page d'accueil affiche maintenant la météo",
            "pourquoi le téléversement du fichier échoue-t-il ?",
        ),
        (
            "El servidor rechaza la conexión cuando caduca el certificado",
            "Los informes mensuales se guardan en otra carpeta",
            "¿por qué se rechaza la conexión del servidor?",
        ),
    ]
}

#[test]
fn a_question_in_any_language_finds_the_session_with_its_words() {
    let mut passages = story();
    for (at, (right, other, _)) in languages().into_iter().enumerate() {
        let number = 100 + 10 * at as u32;
        passages.push(passage(number.into(), number, 0, &[(User, right), (Assistant, "ok")]));
        passages.push(passage(u64::from(number) + 1, number + 1, 0, &[(User, other), (Assistant, "ok")]));
    }
    let world = World::new(passages, 12);
    for (at, (_, _, question)) in languages().into_iter().enumerate() {
        let found = world.find(question);
        assert_eq!(
            found.sessions.first().map(|found| found.session),
            Some(100 + 10 * at as u32),
            "{question}"
        );
        assert!(!found.is_unsure, "{question}: {:?}", found.sessions[0].held);
    }
}

#[test]
fn a_long_question_without_spaces_is_found_by_words_that_only_one_session_has() {
    let told =
        "夜間バッチの集計が時間内に終わらないので、対象の表を日付で分割して並列に処理するように変更した";
    let mut passages = story();
    passages.push(passage(50, 50, 0, &[(User, told)]));
    let world = World::new(passages, 3);
    assert_eq!(
        world.sessions("夜間バッチの集計が終わらない件で、表を日付で分割して並列に処理した変更はどれですか")
            [0],
        50
    );
}

#[test]
fn an_answer_with_few_of_the_words_is_unsure() {
    let world = World::new(story(), 5);
    assert!(
        world.find("which kubernetes ingress annotation breaks websocket upgrades for the shop").is_unsure
    );
    assert!(!world.find("deploy job waits for a lock").is_unsure);
    assert!(world.find("zebra giraffe").sessions.is_empty());
}
