// This file lets cycle.go declare a function without a body.
