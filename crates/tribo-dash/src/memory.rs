//! Memory that is freed goes back to the system.
//!
//! A model of a hundred thousand trials is made and left behind again and again. By default glibc keeps large pieces that were
//! freed, for each thread apart, so the server would need 340 MB where 240 are in use, and stay so large.

/// Pieces from this size on, in bytes, are the system's own: they go back when they are freed.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE: libc::c_int = 1 << 17;

/// From now on large pieces go back when they are freed, where the allocator can be told.
pub(crate) fn be_thrifty() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[allow(unsafe_code)]
    // SAFETY: it changes a setting of the allocator, at any time.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
    }
}

/// Gives back what is not in use now, where the allocator can.
pub(crate) fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[allow(unsafe_code)]
    // SAFETY: it may be called at any time by any thread.
    unsafe {
        libc::malloc_trim(0);
    }
}
