//go:build unix && !linux

package disk

const mapWhole = 0
