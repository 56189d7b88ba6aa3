//! Signals that wait until temporary files are gone, and the files all old or all new.

/// While one exists, a signal that would end the program is only noted.
pub(crate) struct Interrupt(());

#[cfg(unix)]
mod unix {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::sync::{Arc, OnceLock};

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::{flag, low_level};

    use super::Interrupt;

    /// What the handlers see. They stay for the life of the program.
    struct Shared {
        /// Whether a signal does what it does by default.
        free: Arc<AtomicBool>,
        /// The signal that came while it did not; 0 for none.
        noted: Arc<AtomicUsize>,
    }

    static SHARED: OnceLock<Option<Shared>> = OnceLock::new();

    fn shared() -> Option<&'static Shared> {
        SHARED.get_or_init(|| register().ok()).as_ref()
    }

    fn register() -> std::io::Result<Shared> {
        let shared = Shared { free: Arc::new(AtomicBool::new(true)), noted: Arc::default() };
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            flag::register_conditional_default(signal, shared.free.clone())?;
            flag::register_usize(signal, shared.noted.clone(), signal as usize)?;
        }
        Ok(shared)
    }

    impl Interrupt {
        /// Begins to note signals.
        pub(crate) fn hold() -> Self {
            if let Some(shared) = shared() {
                shared.free.store(false, Ordering::SeqCst);
            }
            Self(())
        }

        /// Whether a signal came.
        pub(crate) fn pending(&self) -> bool {
            shared().is_some_and(|shared| shared.noted.load(Ordering::SeqCst) != 0)
        }
    }

    impl Drop for Interrupt {
        /// Lets a signal that came do what it does.
        fn drop(&mut self) {
            if let Some(shared) = shared() {
                shared.free.store(true, Ordering::SeqCst);
                let signal = shared.noted.swap(0, Ordering::SeqCst);
                if signal != 0 {
                    let _ = low_level::emulate_default_handler(signal as i32);
                }
            }
        }
    }
}

#[cfg(not(unix))]
impl Interrupt {
    pub(crate) fn hold() -> Self {
        Self(())
    }

    /// Whether a signal came.
    pub(crate) fn pending(&self) -> bool {
        let _ = self.0;
        false
    }
}
