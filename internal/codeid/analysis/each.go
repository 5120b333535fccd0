package analysis

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// each calls do with 0 to n-1, several concurrently. If a call panics, each panics, so that
// its caller can recover.
func each(n int, do func(int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	var once sync.Once
	var why any
	for range min(runtime.GOMAXPROCS(0), n) {
		wg.Go(func() {
			defer func() {
				if r := recover(); r != nil {
					once.Do(func() { why = r })
				}
			}()
			for i := int(next.Add(1)); i <= n; i = int(next.Add(1)) {
				do(i - 1)
			}
		})
	}
	wg.Wait()
	if why != nil {
		panic(why)
	}
}
