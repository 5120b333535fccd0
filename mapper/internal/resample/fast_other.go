//go:build !amd64

package resample

func downFast([]int32, rows) (ok bool) { return false }

func alongFast([]byte, []int32, columns) (ok bool) { return false }

func doubled([]taps, int, *[]int64) []int64 { return nil }

// fast reports whether the processor has vector code here.
var fast = false
