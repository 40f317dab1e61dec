"""Build DyNet, which pip cannot do, for `make setup` and `mh4 install-dynet`.

`make setup` runs this before anything is installed, so only the standard library is used. `dynet_wheel` builds and
installs the wheel, with `compilers`, `console` and `mh4.util.cpu`.
"""
