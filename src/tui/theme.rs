//! Themes: what each role looks like. Two are in the binary; a file of the user's own overrides some roles of one.

use std::path::Path;
use std::str::FromStr;

use ratatui::style::{Color, Modifier, Style};

use super::colour::{self, Depth};

/// What a thing on the screen is, not how it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Ok,
    Warn,
    Critical,
    Unknown,
    Muted,
    Accent,
    Selection,
    Border,
    Chart,
}

/// The roles by the names they have in a theme file, in the order of [`Role`].
const ROLES: [&str; 9] = ["ok", "warn", "critical", "unknown", "muted", "accent", "selection", "border", "chart"];

const EMBEDDED: [(&str, &str); 2] =
    [("default", include_str!("../../themes/default.toml")), ("mono", include_str!("../../themes/mono.toml"))];

/// A style for each role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Theme {
    styles: [Style; ROLES.len()],
}

/// Why a theme cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ThemeError {
    #[error("unknown theme `{name}`: the themes are {valid}, or the path of a .toml file")]
    Unknown { name: String, valid: String },
    #[error("theme {path}: {cause}")]
    File { path: String, cause: String },
}

impl Theme {
    /// The theme of that name, or the user's own file: a name with a `/` or that ends in `.toml` is a path.
    pub fn load(name: &str, depth: Depth) -> Result<Self, ThemeError> {
        if name.contains('/') || Path::new(name).extension().is_some_and(|extension| extension == "toml") {
            let failed = |cause: String| ThemeError::File { path: name.to_owned(), cause };
            let source = std::fs::read_to_string(name).map_err(|error| failed(error.to_string()))?;
            return Self::parse(&source).map(|theme| theme.with_depth(depth)).map_err(failed);
        }
        match Self::embedded(name) {
            Some(theme) => Ok(theme.with_depth(depth)),
            None => Err(ThemeError::Unknown { name: name.to_owned(), valid: Self::names().join(", ") }),
        }
    }

    /// The names of the themes in the binary.
    pub fn names() -> Vec<&'static str> {
        EMBEDDED.iter().map(|(name, _)| *name).collect()
    }

    /// The theme without colours.
    pub fn mono() -> Self {
        Self::embedded("mono").unwrap_or_else(Self::plain)
    }

    pub fn style(&self, role: Role) -> Style {
        self.styles[role as usize]
    }

    fn plain() -> Self {
        Self { styles: [Style::new(); ROLES.len()] }
    }

    fn embedded(name: &str) -> Option<Self> {
        let (_, source) = EMBEDDED.iter().find(|(known, _)| *known == name)?;
        Self::plain().overridden(source).ok()
    }

    /// The user's own file: the roles that it names, over its base.
    fn parse(source: &str) -> Result<Self, String> {
        let table: toml::Table = source.parse().map_err(|error: toml::de::Error| error.message().to_owned())?;
        let base = match table.get("base") {
            None => "default",
            Some(base) => base.as_str().ok_or("base is the name of a theme")?,
        };
        let theme = Self::embedded(base).ok_or_else(|| format!("base is one of {}", Self::names().join(", ")))?;
        theme.overridden(source)
    }

    fn overridden(mut self, source: &str) -> Result<Self, String> {
        let table: toml::Table = source.parse().map_err(|error: toml::de::Error| error.message().to_owned())?;
        for (key, value) in table.iter().filter(|(key, _)| *key != "base") {
            let role = ROLES.iter().position(|role| role == key);
            let role = role.ok_or_else(|| format!("unknown role `{key}`: the roles are {}", ROLES.join(", ")))?;
            let words = value.as_str().ok_or_else(|| format!("{key} must be a text such as \"bold red\""))?;
            self.styles[role] =
                style(words).map_err(|word| format!("{key}: `{word}` is no colour and no attribute"))?;
        }
        Ok(self)
    }

    fn with_depth(mut self, depth: Depth) -> Self {
        for style in &mut self.styles {
            style.fg = style.fg.and_then(|colour| colour::fitted(colour, depth));
            style.bg = style.bg.and_then(|colour| colour::fitted(colour, depth));
        }
        self
    }
}

/// `bold red on black`; the word that is not understood on failure.
fn style(words: &str) -> Result<Style, String> {
    let mut style = Style::new();
    let mut words = words.split_whitespace().peekable();
    let mut background = false;
    while let Some(word) = words.next() {
        let modifier = match word {
            "bold" => Modifier::BOLD,
            "dim" => Modifier::DIM,
            "italic" => Modifier::ITALIC,
            "underlined" => Modifier::UNDERLINED,
            "reversed" => Modifier::REVERSED,
            "on" => {
                background = true;
                continue;
            }
            _ => {
                let two = words.peek().and_then(|next| Color::from_str(&format!("{word} {next}")).ok());
                let colour = two.map_or_else(|| Color::from_str(word), Ok).map_err(|_| word.to_owned())?;
                if two.is_some() {
                    words.next();
                }
                style = if background { style.bg(colour) } else { style.fg(colour) };
                continue;
            }
        };
        style = style.add_modifier(modifier);
    }
    Ok(style)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_themes_name_every_role() {
        for (name, source) in EMBEDDED {
            let table: toml::Table = source.parse().unwrap();
            for role in ROLES {
                assert!(table.contains_key(role), "{name} lacks {role}");
            }
            let theme = Theme::load(name, Depth::Ansi16).unwrap();
            assert!(theme.style(Role::Selection).add_modifier.contains(Modifier::REVERSED));
        }
    }

    #[test]
    fn an_unknown_theme_lists_the_valid_ones() {
        let error = Theme::load("solar", Depth::Ansi16).unwrap_err().to_string();
        assert_eq!(error, "unknown theme `solar`: the themes are default, mono, or the path of a .toml file");
    }

    #[test]
    fn a_file_overrides_some_roles() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine.toml");
        let load = |source: &str| {
            std::fs::write(&path, source).unwrap();
            Theme::load(path.to_str().unwrap(), Depth::True)
        };
        let theme = load("critical = \"bold light red on #102030\"").unwrap();
        let expected = Style::new().fg(Color::LightRed).bg(Color::Rgb(16, 32, 48)).add_modifier(Modifier::BOLD);
        assert_eq!(theme.style(Role::Critical), expected);
        assert_eq!(theme.style(Role::Ok), Style::new().fg(Color::Green));
        assert_eq!(load("base = \"mono\"").unwrap(), Theme::mono());
        for (source, cause) in [
            ("okay = \"green\"", "unknown role `okay`"),
            ("ok = \"grin\"", "ok: `grin` is no colour"),
            ("ok = 1", "ok must be a text"),
            ("base = \"x\"", "base is one of default, mono"),
            ("ok =", "theme "),
        ] {
            let error = load(source).unwrap_err().to_string();
            assert!(error.contains(cause), "{error}");
        }
        assert!(Theme::load("/nowhere/x.toml", Depth::True).unwrap_err().to_string().contains("No such file"));
    }

    #[test]
    fn without_colour_there_is_none() {
        let theme = Theme::load("default", Depth::None).unwrap();
        for role in [Role::Ok, Role::Critical, Role::Chart] {
            assert_eq!((theme.style(role).fg, theme.style(role).bg), (None, None));
        }
        assert!(theme.style(Role::Critical).add_modifier.contains(Modifier::BOLD));
    }
}
