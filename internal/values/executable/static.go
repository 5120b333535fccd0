package executable

// Static reports whether what lies at an address is part of the executable: of
// function values those that carry nothing are, and those that capture variables
// are made at run time. It is not told on every system.
func Static(at uintptr) (static, told bool) {
	ranges, told := executable()
	for _, r := range ranges {
		if at >= r[0] && at < r[1] {
			return true, told
		}
	}
	return false, told
}
