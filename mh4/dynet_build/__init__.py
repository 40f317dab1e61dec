"""Building DyNet, which pip cannot do: for `make setup`, which runs this before anything is installed, and `mh4 install-dynet`.

Only the standard library is used. `dynet_wheel` builds and installs the wheel, with `compilers`, `console` and `cpu`.
"""
