//! What the terminal can do, decided from the environment in one pure function. The order of the decisions is the
//! usual one: flag, NO_COLOR, CLICOLOR_FORCE, TERM, COLORTERM.

use std::io::IsTerminal;

use super::colour::Depth;
use super::look::Charset;

/// What the decision is made from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    pub stdin_is_terminal: bool,
    pub stdout_is_terminal: bool,
    /// Stdin carries frames: keys come from /dev/tty.
    pub keys_from_tty: bool,
    pub term: Option<String>,
    pub colorterm: Option<String>,
    pub no_color: Option<String>,
    pub clicolor_force: Option<String>,
    pub lc_all: Option<String>,
    pub lc_ctype: Option<String>,
    pub lang: Option<String>,
}

/// What the person asked for on the command line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ColourWish {
    #[default]
    Auto,
    Always,
    Never,
}

/// What the terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalFacts {
    pub depth: Depth,
    pub charset: Charset,
    /// The theme that fits, if the person named none.
    pub theme: &'static str,
}

/// Why there can be no dashboard here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("{0} is not a terminal: `lagtop snapshot` prints the same figures without one (over ssh, try `ssh -t`)")]
    NoTerminal(&'static str),
    #[error("TERM is {0}: no full screen there; `lagtop snapshot` prints the same figures as text")]
    Dumb(String),
}

impl Environment {
    /// Reads this process's environment. `keys_from_tty`: stdin is a stream of frames.
    pub fn read(keys_from_tty: bool) -> Self {
        let variable = |name| std::env::var(name).ok();
        Self {
            stdin_is_terminal: std::io::stdin().is_terminal(),
            stdout_is_terminal: std::io::stdout().is_terminal(),
            keys_from_tty,
            term: variable("TERM"),
            colorterm: variable("COLORTERM"),
            no_color: variable("NO_COLOR"),
            clicolor_force: variable("CLICOLOR_FORCE"),
            lc_all: variable("LC_ALL"),
            lc_ctype: variable("LC_CTYPE"),
            lang: variable("LANG"),
        }
    }
}

/// Whether a dashboard can be shown here, and with which colours and characters.
pub fn check_terminal(environment: &Environment, wish: ColourWish) -> Result<TerminalFacts, Refusal> {
    if !environment.stdout_is_terminal {
        return Err(Refusal::NoTerminal("stdout"));
    }
    if !environment.stdin_is_terminal && !environment.keys_from_tty {
        return Err(Refusal::NoTerminal("stdin"));
    }
    match set(environment.term.as_ref()) {
        None => return Err(Refusal::Dumb("not set".to_owned())),
        Some("dumb") => return Err(Refusal::Dumb("dumb".to_owned())),
        Some(_) => {}
    }
    let depth = depth(environment, wish);
    let theme = if depth == Depth::None { "mono" } else { "default" };
    Ok(TerminalFacts { depth, charset: charset(environment), theme })
}

fn set(variable: Option<&String>) -> Option<&str> {
    variable.map(String::as_str).filter(|value| !value.is_empty())
}

fn depth(environment: &Environment, wish: ColourWish) -> Depth {
    let forced = set(environment.clicolor_force.as_ref()).is_some_and(|value| value != "0");
    match wish {
        ColourWish::Never => return Depth::None,
        ColourWish::Auto if set(environment.no_color.as_ref()).is_some() => return Depth::None,
        ColourWish::Auto | ColourWish::Always => {}
    }
    let term = environment.term.as_deref().unwrap_or_default();
    if !forced && wish == ColourWish::Auto && term.starts_with("vt") {
        return Depth::None;
    }
    match set(environment.colorterm.as_ref()) {
        Some("truecolor" | "24bit") => Depth::True,
        _ if term.contains("256color") => Depth::Ansi256,
        _ => Depth::Ansi16,
    }
}

/// The first of the three that is set decides; without UTF-8 there is ASCII.
fn charset(environment: &Environment) -> Charset {
    let names = [&environment.lc_all, &environment.lc_ctype, &environment.lang];
    let locale = names.into_iter().find_map(|name| set(name.as_ref())).unwrap_or_default().to_lowercase();
    if locale.contains("utf-8") || locale.contains("utf8") { Charset::Unicode } else { Charset::Ascii }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terminal() -> Environment {
        Environment {
            stdin_is_terminal: true,
            stdout_is_terminal: true,
            term: Some("xterm-256color".to_owned()),
            lang: Some("en_US.UTF-8".to_owned()),
            ..Environment::default()
        }
    }

    #[allow(clippy::unnecessary_wraps)]
    fn some(value: &str) -> Option<String> {
        Some(value.to_owned())
    }

    fn decide(environment: &Environment) -> (Depth, Charset, &'static str) {
        let facts = check_terminal(environment, ColourWish::Auto).unwrap();
        (facts.depth, facts.charset, facts.theme)
    }

    #[test]
    fn no_terminal_points_to_the_snapshot() {
        let pipe = Environment { stdout_is_terminal: false, ..terminal() };
        let refusal = check_terminal(&pipe, ColourWish::Auto).unwrap_err().to_string();
        assert!(refusal.starts_with("stdout is not a terminal") && refusal.contains("lagtop snapshot"), "{refusal}");
        let stream = Environment { stdin_is_terminal: false, ..terminal() };
        assert_eq!(check_terminal(&stream, ColourWish::Auto), Err(Refusal::NoTerminal("stdin")));
        assert!(check_terminal(&Environment { keys_from_tty: true, ..stream }, ColourWish::Auto).is_ok());
        for term in [None, some(""), some("dumb")] {
            let dumb = Environment { term, ..terminal() };
            assert!(matches!(check_terminal(&dumb, ColourWish::Always), Err(Refusal::Dumb(_))));
        }
    }

    #[test]
    fn colours_are_decided_in_order() {
        assert_eq!(decide(&terminal()).0, Depth::Ansi256);
        assert_eq!(decide(&Environment { colorterm: some("truecolor"), ..terminal() }).0, Depth::True);
        assert_eq!(decide(&Environment { term: some("screen"), ..terminal() }).0, Depth::Ansi16);
        assert_eq!(decide(&Environment { term: some("vt100"), ..terminal() }).0, Depth::None);
        assert_eq!(
            decide(&Environment { clicolor_force: some("1"), term: some("vt100"), ..terminal() }).0,
            Depth::Ansi16
        );
        let plain = Environment { no_color: some("1"), clicolor_force: some("1"), ..terminal() };
        assert_eq!(decide(&plain), (Depth::None, Charset::Unicode, "mono"));
        assert_eq!(check_terminal(&plain, ColourWish::Always).unwrap().depth, Depth::Ansi256);
        assert_eq!(decide(&Environment { no_color: some(""), ..terminal() }).0, Depth::Ansi256);
        assert_eq!(check_terminal(&terminal(), ColourWish::Never).unwrap().theme, "mono");
    }

    #[test]
    fn the_first_locale_that_is_set_decides() {
        assert_eq!(decide(&Environment { lc_all: some("C"), ..terminal() }).1, Charset::Ascii);
        assert_eq!(decide(&Environment { lc_all: some(""), ..terminal() }).1, Charset::Unicode);
        assert_eq!(
            decide(&Environment { lc_ctype: some("C.utf8"), lang: some("C"), ..terminal() }).1,
            Charset::Unicode
        );
        assert_eq!(decide(&Environment { lang: None, ..terminal() }).1, Charset::Ascii);
    }
}
