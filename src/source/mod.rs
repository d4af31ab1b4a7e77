//! Where frames come from: `live` (a child collector at a cluster), `recording` (a file or pipe), `demo` (a simulated
//! incident). Whoever consumes a [`Source`] cannot tell which it is.

mod backoff;
pub mod demo;
pub mod live;
pub mod recording;

use tokio::sync::mpsc;

use crate::frame::{Frame, Order};
use crate::model::{At, Name};

/// What a source says.
// A few a second: not worth a box.
#[allow(clippy::large_enum_variant)]
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// Times in frames ascend over the whole life of a source, also when a collector was replaced by a new one.
    Frame(Frame),
    /// The frames have stopped for now; the source keeps trying. Told once a second while it lasts.
    Interrupted { at: At, cause: Name },
    /// There will be no more: the end of a recording (no failure), or a failure that will not pass.
    Ended { failure: Option<Name> },
}

/// A running source. Dropping it ends what is behind it.
#[derive(Debug)]
pub struct Source {
    pub inputs: mpsc::Receiver<Input>,
    /// Orders to whoever makes the frames; a recording ignores them.
    pub orders: mpsc::Sender<Order>,
}

impl Source {
    /// Waits for the first frame; the error says why there is none.
    pub async fn opened(mut self) -> Result<Self, Name> {
        let first = self.inputs.recv().await;
        if let Some(Input::Ended { failure: Some(cause) }) = first {
            return Err(cause);
        }
        let (sender, inputs) = mpsc::channel(64);
        let Self { inputs: mut rest, orders } = self;
        tokio::spawn(async move {
            let mut next = first;
            while let Some(input) = next {
                if sender.send(input).await.is_err() {
                    return;
                }
                next = rest.recv().await;
            }
        });
        Ok(Self { inputs, orders })
    }
}
