package mds

// Decode makes an item from the bytes of a column.
var Decode = decode
