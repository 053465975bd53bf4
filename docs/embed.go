// Package docs holds the pages of this folder, which server/site shows as HTML.
package docs

import "embed"

// Files are the pages, which are Markdown, and what they show or link to. README.md is the list of pages.
//
//go:embed *
var Files embed.FS
