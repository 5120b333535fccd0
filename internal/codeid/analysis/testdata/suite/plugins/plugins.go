package plugins

import "suite/registry"

func init() {
	registry.Default.Add("half", half{})
	registry.Default.Add("square", &square{bias: 1})
	registry.Hooks = append(registry.Hooks, mark, func(s string) string { return s + "?" })
}

type half struct{}

// Do halves.
func (half) Do(n int) int { return n / 2 }

type square struct{ bias int }

// Do squares.
func (s *square) Do(n int) int { return power(n) + s.bias }

func power(n int) int { return n * n }

func mark(s string) string { return "*" + s }
