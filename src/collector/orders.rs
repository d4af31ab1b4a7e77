//! Orders from the parent: JSON lines on stdin, see [`crate::frame::order`].

use std::io::BufRead;

use anyhow::{Context, bail};
use tokio::sync::mpsc;

use crate::frame::{Order, Settings};

/// Reads the settings, then passes on every further order from a thread of its own; the channel closes at the end of
/// the input. Blocks until the first line has come.
pub fn read(mut input: impl BufRead + Send + 'static) -> anyhow::Result<(Settings, mpsc::Receiver<Order>)> {
    let mut line = String::new();
    input.read_line(&mut line).context("reading the first order")?;
    let settings = match serde_json::from_str(&line) {
        Ok(Order::Settings(settings)) => settings,
        Ok(_) => bail!("the first order must be the settings"),
        // The line may hold secrets: it is not repeated.
        Err(error) => bail!("the first order cannot be read as JSON (column {})", error.column()),
    };
    let (sender, receiver) = mpsc::channel(64);
    std::thread::Builder::new().name("orders".into()).spawn(move || {
        for line in input.lines().map_while(Result::ok).filter(|line| !line.trim().is_empty()) {
            match serde_json::from_str(&line) {
                Ok(order) => {
                    if sender.blocking_send(order).is_err() {
                        break;
                    }
                }
                Err(error) => tracing::warn!("an order cannot be read, ignored: {error}"),
            }
        }
    })?;
    Ok((settings, receiver))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn settings_come_first_and_nothing_secret_is_repeated() {
        let secret = r#"{"settings":{"properties":{"sasl.password":"hunter2"}"#;
        for first in ["", "\n", "\"poll_now\"\n", secret] {
            let error = format!("{:#}", read(Cursor::new(first.to_owned())).unwrap_err());
            assert!(error.contains("first order") && !error.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn orders_follow_and_the_channel_closes_at_the_end() {
        let input = "{\"settings\":{\"interval_ms\":7}}\n\n\"poll_now\"\nnonsense\n{\"interval\":5}\n";
        let (settings, mut orders) = read(Cursor::new(input.to_owned())).unwrap();
        assert_eq!(settings.interval_ms, 7);
        assert_eq!(orders.blocking_recv(), Some(Order::PollNow));
        assert_eq!(orders.blocking_recv(), Some(Order::Interval(5)));
        assert_eq!(orders.blocking_recv(), None);
    }
}
