// Package process ends processes that started programs have left: those of their
// process group, and those that left it and are identified by directory or environment. It
// holds the last bytes of their stderr, and creates memory that several processes map.
package process
