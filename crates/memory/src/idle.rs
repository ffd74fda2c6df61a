//! Words that reveal nothing about the topic of a text, in the languages of requests.

use std::sync::LazyLock;

use hashbrown::HashSet;
use retro_search::Words;

/// Words in requests of every kind, and file extensions. A prompt and a memory that share them need
/// not be related.
const IDLE_WORDS: &str = "always never must should only instead dont don prefer avoid add make fix change remove create update show move run write check look implement give \
    rename delete explain tell build find set get use using used need needs want please can could help let put see \
    read start stop try new old now file files folder code line lines thing things way page work works working \
    failed fails fail failing error errors problem issue test tests first last next one two three same other \
    everything something anything happen happens today again still back only like why how what when good better ok okay yes no \
    thanks great here there up down out off in on do does done go goes going come comes py rs js ts tsx jsx json md \
    txt toml yaml yml sh html css go \
    bitte mach füge hinzu zeig schreib prüf leg noch mal wieder neu neue neuen der die das den dem ein eine einen \
    und oder nicht ist sind wird mit für von zu im in am auf aus bei nach vor wir ich du es was wie warum kann \
    brauche braucht brauchen jetzt schon bitte necesito otra otro vez besoin encore \
    por favor haz añade muestra escribe el la los las un una de del en con para por que y o no se es son va van \
    le les des du et ou pas est sont avec pour dans sur ce cette il elle on nous vous je fais ajoute montre écris \
    il lo gli di che e non con per su è sono fai aggiungi mostra os as um uma do da dos das em ao não com \
    se su sus ya todo todos lo cada este esta estos nunca siempre jamais toujours sempre mai immer nie niemals \
    不要 不能 必须 应该 需要 我们 你们 所有 以后 每次 这个 那个 一下 可以 怎么 什么 为什么 没有 已经 现在 还是 怎么办 \
    해줘 해주세요 합니다 하세요 있습니다 주세요 앞으로 반드시 항상";

/// The terms of idle words.
pub(crate) static IDLE: LazyLock<HashSet<String>> =
    LazyLock::new(|| Words::default().distinct(IDLE_WORDS).into_iter().collect());
