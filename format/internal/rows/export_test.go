package rows

// StartsOf reads where rows begin in a file of some size.
var StartsOf = startsOf
