package executable

import "sync/atomic"

var namesakes atomic.Pointer[func(pkg, name string) bool]

// TellNamesakes sets a function that knows types which share their names with others.
// The executable does not distinguish a type that is declared in a function from
// another one of that name and package.
func TellNamesakes(f func(pkg, name string) bool) { namesakes.Store(&f) }

// HasNamesake reports whether a package, by its path in the executable, is known to
// declare several types of a name.
func HasNamesake(pkg, name string) bool {
	f := namesakes.Load()
	return f != nil && (*f)(pkg, name)
}
