// Larder-cloud is the program larder with support for gs:// and az://.
package main

import (
	"os"

	"github.com/larder-data/larder/cli"
	_ "github.com/larder-data/larder/objectstore/cloud/az"
	_ "github.com/larder-data/larder/objectstore/cloud/gs"
	_ "github.com/larder-data/larder/objectstore/http"
	_ "github.com/larder-data/larder/objectstore/s3"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr)) }
