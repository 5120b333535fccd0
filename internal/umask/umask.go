// Package umask says which permissions new files do not get.
package umask
