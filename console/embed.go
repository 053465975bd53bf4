//go:build !noconsole

package console

import (
	"embed"
	"io/fs"
)

// The files of dist are those that `npm run build` makes.
//
//go:embed dist
var dist embed.FS

func files() fs.FS {
	built, _ := fs.Sub(dist, "dist") // fails only for an invalid name
	return built
}
