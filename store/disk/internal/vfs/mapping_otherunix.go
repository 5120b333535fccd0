//go:build unix && !linux

package vfs

const mapWhole = 0
