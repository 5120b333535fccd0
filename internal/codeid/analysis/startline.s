// This file lets function.go declare a function without a body.
