//go:build !fancy

package text

func flavour() string { return "plain" }
