"""A template for operators of ptychography: plain numpy, with positions shared out to threads."""
import threading

import numpy as np
import rankcheck

s = rankcheck.Subject("numpy-operators")


@s.group
class Sums:
    """Adds arrays of all ranks."""

    def __init__(self, ranks):
        self.arrays = [None] * len(ranks)
        self.barrier = threading.Barrier(len(ranks))

    def __call__(self, call, array):
        self.arrays[call.rank] = array
        self.barrier.wait()
        total = np.sum(self.arrays, axis=0)
        self.barrier.wait()
        return total.astype(array.dtype)


def corners(scene, position):
    """Yields the four slices of the object under a window, with their weights and windows."""
    i, j = np.floor(position).astype(int)
    f, g = position - np.floor(position)
    w = scene.window
    for row, a in ((i, 1 - f), (i + 1, f)):
        for col, b in ((j, 1 - g), (j + 1, g)):
            top, left = max(row, 0), max(col, 0)
            bottom, right = min(row + w, scene.rows), min(col + w, scene.cols)
            if a * b and top < bottom and left < right:
                here = np.s_[top:bottom, left:right]
                there = np.s_[top - row : bottom - row, left - col : right - col]
                yield a * b, here, there


def border(scene):
    """Returns where the window lies in a frame."""
    first = (scene.detector - scene.window) // 2
    inside = slice(first, first + scene.window)
    return np.s_[..., inside, inside]


def windows_of(scene, image, positions):
    """Returns the window of the object at each position."""
    out = np.zeros((len(positions), scene.window, scene.window), image.dtype)
    for window, position in zip(out, positions):
        for weight, here, there in corners(scene, position):
            window[there] += image.dtype.type(weight) * image[here]
    return out


def in_frames(scene, windows):
    """Returns frames with zeros around the windows."""
    frames = np.zeros((*windows.shape[:-2], scene.detector, scene.detector), windows.dtype)
    frames[border(scene)] = windows
    return frames


@s.operator("extract")
def extract(call, object, positions):
    return in_frames(call.scene, windows_of(call.scene, object[0], positions))


@s.operator("insert")
def insert(call, patches, positions):
    out = np.zeros((1, call.scene.rows, call.scene.cols), patches.dtype)
    for patch, position in zip(patches[border(call.scene)], positions):
        for weight, here, there in corners(call.scene, position):
            out[0][here] += patch.dtype.type(weight) * patch[there]
    return call.group(call, out)


@s.operator("illuminate")
def illuminate(call, object, probe, positions):
    patches = windows_of(call.scene, object[0], positions)
    return in_frames(call.scene, patches[:, None] * probe)


@s.operator("propagate")
def propagate(call, waves):
    return np.fft.fft2(waves, norm="ortho").astype(waves.dtype)


@s.operator("propagate_inverse")
def propagate_inverse(call, far_waves):
    return np.fft.ifft2(far_waves, norm="ortho").astype(far_waves.dtype)


@s.operator("intensity")
def intensity(call, far_waves):
    # np.abs would round the square root, which exact inputs show.
    return np.sum(far_waves.real**2 + far_waves.imag**2, axis=1)


@s.operator("gaussian_cost")
def gaussian_cost(call, far_waves, frames, mask):
    modelled = intensity(call, far_waves)
    measured = np.where(mask == 1, frames, 0)
    cost = np.sum(mask * (np.sqrt(modelled) - np.sqrt(measured)) ** 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.where(modelled > 0, 1 - np.sqrt(measured / modelled), 0) * mask
    cost = call.group(call, np.full(1, cost, frames.dtype))
    return {"cost": cost, "far_waves": factor[:, None] * far_waves}


if __name__ == "__main__":
    s.serve()
