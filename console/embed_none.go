//go:build noconsole

package console

import "io/fs"

func files() fs.FS { return nil }
