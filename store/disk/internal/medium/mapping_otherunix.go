//go:build unix && !linux

package medium

const mapWhole = 0
