//! Records to text tables, SVG and HTML; pure.
