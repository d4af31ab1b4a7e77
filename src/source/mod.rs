//! Where frames come from: `live` (a child collector at a cluster), `recording` (a file or pipe), `demo` (a simulated
//! incident). Whoever consumes a [`Source`] cannot tell which it is.

mod backoff;
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
