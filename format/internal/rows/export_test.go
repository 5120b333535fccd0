package rows

// StartsOf decodes the starts of rows in a file of some size.
var StartsOf = startsOf
