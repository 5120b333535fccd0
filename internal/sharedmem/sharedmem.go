// Package sharedmem is memory that several processes have: a file without a name, which
// is handed to another process by its descriptor, and that both map.
package sharedmem
