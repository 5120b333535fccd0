// Package process ends processes that started programs have left: those of their
// process group, and those that left it and are identified by directory or environment.
package process
