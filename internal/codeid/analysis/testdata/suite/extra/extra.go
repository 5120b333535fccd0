package extra

import "suite/registry"

func init() { registry.Default.Add("extra", extra{}) }

type extra struct{}

// Do adds.
func (extra) Do(n int) int { return n + 1 }
