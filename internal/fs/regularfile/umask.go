// Package regularfile says which permissions new files do not get.
package regularfile
