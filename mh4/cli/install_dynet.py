"""The command `mh4 install-dynet`."""

import click


@click.command("install-dynet")
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="The most compilers at a time; by default one for each core, as memory allows.",
)
def install_dynet(jobs: int | None) -> None:
    """Compile DyNet for this Python and processor, and install it.

    The neural network needs DyNet, which pip cannot build by itself; the decoders and all commands that use no
    model do not. This takes several minutes, once, and needs a C++ compiler, make and network access.
    """
    from mh4.dynet_build.dynet_wheel import install_here

    install_here(jobs)
