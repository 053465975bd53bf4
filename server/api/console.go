package api

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

// consolePath is relative, so that it also leads to the console behind a proxy that adds a prefix.
const consolePath = "console/"

// addConsole serves the console, and leads browsers to it from / and from /console.
func (s *Server) addConsole(console http.Handler) {
	redirect := func(c echo.Context) error { return c.Redirect(http.StatusFound, consolePath) }
	s.echo.GET("/", func(c echo.Context) error {
		c.Response().Header().Add(echo.HeaderVary, echo.HeaderAccept)
		if !strings.Contains(c.Request().Header.Get(echo.HeaderAccept), "text/html") {
			return echo.ErrNotFound
		}
		return redirect(c)
	})
	s.echo.GET("/console", redirect)
	s.echo.GET("/console/*", echo.WrapHandler(console))
}
