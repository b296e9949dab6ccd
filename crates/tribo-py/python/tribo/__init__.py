from tribo._core import __version__
