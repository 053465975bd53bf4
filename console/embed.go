//go:build !noconsole

package console

import (
	"embed"
	"io/fs"
)

// `npm run build` makes the files of dist.
//
//go:embed dist
var dist embed.FS

func files() fs.FS {
	built, _ := fs.Sub(dist, "dist") // fails only for an invalid name
	return built
}
