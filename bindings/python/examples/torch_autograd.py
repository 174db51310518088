"""softmax as a differentiable function of PyTorch: mygemm.softmax and its gradient.

Run it with or without a GPU; it compares the gradient with PyTorch's own.
"""
import torch

import mygemm


class Softmax(torch.autograd.Function):
    """Softmax.apply(x, scale): the softmax of scale * x along the last axis."""

    @staticmethod
    def forward(ctx, x, scale=1.0):
        # PyTorch records no gradients in here, so mygemm takes x though it requires grad.
        y = mygemm.softmax(x.contiguous(), scale=scale)
        ctx.save_for_backward(y)
        ctx.scale = scale
        return y

    @staticmethod
    def backward(ctx, dy):
        y, = ctx.saved_tensors
        return mygemm.softmax_backward(y, dy.contiguous(), scale=ctx.scale), None


def main():
    device = "cuda" if torch.cuda.is_available() and mygemm.backend() == "cuda" else "cpu"
    x = torch.randn(64, 1000, device=device, requires_grad=True)
    weights = torch.randn_like(x)
    ours, = torch.autograd.grad((Softmax.apply(x, 0.5) * weights).sum(), x)
    theirs, = torch.autograd.grad((torch.softmax(0.5 * x, dim=-1) * weights).sum(), x)
    print(f"{device}: largest difference of the gradients {(ours - theirs).abs().max():.1e}")


if __name__ == "__main__":
    main()
