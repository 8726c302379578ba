//! Whole skeletons that are fitted to a mesh by a few landmarks.
