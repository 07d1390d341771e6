"""The names that stacks carry: project words for training and, disjoint from them, project words held out."""

from __future__ import annotations

__all__ = ["HELD_OUT_PROJECTS", "PURPOSES", "TRAIN_PROJECTS"]

_TRAIN = """
    acorn agate alder almond amber anchor antler apollo apricot arbor arrow ashfall aspen aster atlas aurora autumn
    badger bamboo banjo barley basalt beacon beaver beech bellows birch bison blossom bobcat bonfire boulder bramble
    breeze bridge brook buckle buffalo butte cactus calypso camel candle canyon caper caravan caribou carob cascade
    castle cedar chalk cherry chestnut chime cicada cinder citrus clover cobalt cobra comet compass condor copper
    coral corvid cosmos cotton cougar coyote crane crater cricket crimson crystal cumin cypress daisy dingo dolphin
    domino dragon drift drum dune dynamo eagle echo ember emerald ermine fable falcon fathom feather fennel ferret
    fiddle finch fjord flamingo flint forge fossil foxglove frost galaxy garnet gazelle gecko geyser ginger glacier
    glider gopher granite grotto grove gull hamlet harbor harvest hawthorn hazel heather helix heron hickory holly
    hornet hyacinth ibis indigo iris island ivory jackal jaguar jasmine jasper juniper kelp kernel kestrel koala
    lagoon lantern larch lark laurel lava lemon lemur leopard lichen lilac linden lobster locust lotus lupine lynx
    magnet magpie mallow mammoth mango maple marble marlin marten meadow melon mercury merlin meteor mimosa mink
    mirage mistral monsoon moose mosaic moss mulberry mustang myrtle nebula nectar nettle nimbus nutmeg oasis
    obsidian ocelot olive onyx opal orbit orchid oriole osprey otter oyster paddle panda panther papaya parsley
    pebble pelican penguin pepper peridot petal phoenix pigeon pilot pine pioneer piston plateau plover plum polar
    pollen poppy prairie prism puffin puma quail quartz quill quince quiver rabbit radish rapids raven redwood reef
    ridge ripple river robin rocket rosemary ruby saffron salmon sandbar sapphire savanna seal sequoia sierra silver
    skylark slate
"""

TRAIN_PROJECTS = tuple(_TRAIN.split())

_HELD_OUT = """
    abalone albatross anise argon avocet azalea bittern borage brindle cardinal cassia cheetah clementine cormorant
    cuckoo dahlia damson egret elder everest fresco gannet gentian halibut hemlock horizon icicle jackdaw kiwi
    lavender limpet lizard macaw mandarin marigold narwhal nightjar nova oregano orion pangolin peach peacock petrel
    pumice python quokka rhubarb rowan sable sage sandpiper sorrel spruce starling stork summit sumac swift tamarind
    tangent tapir teal thistle thyme tiger toucan trout tulip tundra turmeric turnip umber valley velvet violet
    viper vortex wagtail walnut walrus warbler weasel willow wombat wren yarrow yucca zephyr zinnia
"""

HELD_OUT_PROJECTS = tuple(_HELD_OUT.split())

PURPOSES = {
    "bucket": ("archive", "assets", "backups", "exports", "invoices", "media", "reports", "uploads"),
    "security_group": ("web", "api", "bastion", "admin", "cache", "workers"),
    "database": ("db", "orders", "users", "ledger", "catalog"),
    "cluster": ("aurora", "billing", "sessions", "search"),
    "server": ("app", "web", "worker", "runner", "batch"),
    "template": ("fleet", "nodes", "workers", "runners"),
    "volume": ("data", "scratch", "disk", "store"),
    "table": ("events", "carts", "locks", "profiles", "tokens"),
    "logs": ("api", "audit", "jobs", "proxy", "worker"),
    "network": ("net", "core", "edge", "lab"),
    "key": ("key", "master", "secrets", "data"),
    "policy": ("deploy", "sync", "grants", "tooling"),
    "role_policy": ("access", "runtime", "jobs", "ingest"),
}
