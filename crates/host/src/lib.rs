//! What is plugged in and what it is used for; mkfs, mount, loop.
