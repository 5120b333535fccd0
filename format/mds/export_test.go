package mds

// Decode makes an item of the bytes of a column.
var Decode = decode
