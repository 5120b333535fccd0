package mapper

// Measure is what image-stats computes, for tests.
var Measure = measure
