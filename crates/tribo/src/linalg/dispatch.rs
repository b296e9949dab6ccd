//! Compiles a loop once for each instruction set and picks one at run time.
//!
//! Default builds target plain x86-64 (SSE2). A loop wrapped in `vectorised!` is also compiled for AVX2 with
//! FMA and for AVX-512; the best version the machine has is chosen by `is_x86_feature_detected!`, which reads a
//! cached word. Measured on loops of a few hundred elements this equals a `target-cpu=native` build, and the
//! binary still runs on old cluster nodes.
//!
//! The body must be written so that every version rounds alike: fused steps as `mul_add`, sums in explicit
//! lanes. The compiler never reassociates floating-point sums by itself, so the versions give the same bits.

/// Defines a function whose body is compiled for each instruction set.
macro_rules! vectorised {
    ($(#[$attribute:meta])* $visibility:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $return:ty)? $body:block) => {
        $(#[$attribute])*
        $visibility fn $name($($argument: $type),*) $(-> $return)? {
            #[inline(always)]
            fn body($($argument: $type),*) $(-> $return)? $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
                fn avx512($($argument: $type),*) $(-> $return)? { body($($argument),*) }
                #[target_feature(enable = "avx2,fma")]
                fn avx2($($argument: $type),*) $(-> $return)? { body($($argument),*) }

                if is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                {
                    // SAFETY: the machine was just seen to have every feature the function is compiled for.
                    #[allow(unsafe_code)]
                    return unsafe { avx512($($argument),*) };
                }
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    // SAFETY: as above.
                    #[allow(unsafe_code)]
                    return unsafe { avx2($($argument),*) };
                }
            }
            body($($argument),*)
        }
    };
}

pub(crate) use vectorised;
