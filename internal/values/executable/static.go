package executable

// Static reports whether an address is in the executable. Function values without
// captured variables are; those with captured variables are allocated at run time. known
// is false where the system does not report it.
func Static(at uintptr) (static, known bool) {
	ranges, known := executable()
	for _, r := range ranges {
		if at >= r[0] && at < r[1] {
			return true, known
		}
	}
	return false, known
}
